/**
 * The reasons of each error code, and what a client does about them (OP-265): the header `Error-Reason`, and the guide
 * docs/errors.md. The first one of a code holds where no other is given. A reason may get clearer words,
 * and codes may get more reasons; none is taken away.
 */
export const ERROR_REASONS = {
  bad_request: {
    invalid_request: 'A member or parameter is missing, unknown or not of its form. Correct what the message names.',
    malformed_request: 'The request is no well-formed HTTP or JSON, or did not arrive in time. Correct the client.',
    condition_not_taken: 'The operation takes no `If-Match`. Send the request without it.',
    unknown_parameter: 'The query has a parameter that the operation does not take. The message lists those it takes.',
  },
  invalid_api_key: {
    key_unknown: 'No such key exists, or two different ones were sent. Check which key the client sends.',
    key_missing: 'The request has no key. Send `Authorization: Bearer <API_KEY>`.',
    key_not_in_force: 'The key has expired, was revoked, or does not work yet. Get another key.',
    suspended: "The workspace or the key's app is suspended. Ask the platform; the key works again afterwards.",
  },
  insufficient_scope: {
    scope_missing: 'The key lacks the scope that the message names. Use a key that has it.',
    sandbox_only: 'Only the key of a sandbox may do this: one that begins with `sk_test_`.',
    not_own_resource: "An app's key may do this only to what its own app has made. Use a key of the merchant.",
  },
  not_found: {
    no_such_resource: 'The workspace of the key has no such resource, or has it no longer. Forget the id.',
    no_such_operation: 'No operation has this path. Compare it with the reference.',
  },
  method_not_allowed: {
    method_not_allowed: 'The path has no such method. The header `Allow` lists those that it has.',
  },
  conflict: {
    state_forbids: 'The state of the resource forbids it. Read the resource, and decide anew.',
    sku_taken: 'Another variant has the SKU. Send another one, or change that variant.',
    slug_taken: 'Another product, category or tag has the slug. Send another one.',
    handle_taken: 'Another collection has the handle. Send another one.',
    email_taken: 'Another customer has the e-mail address. Change that customer, or send another address.',
    name_taken: 'The name or id belongs to something else. Send another one.',
    reference_taken: 'The reference was recorded with another amount or other items. Use a reference once.',
    key_reused: 'The `Idempotency-Key` was sent with another request within 24 hours. Make a key for each request.',
    answer_not_kept:
      'The request took effect; its answer is not kept. Do not repeat it: rotate the secret, under a new `Idempotency-Key`, or read what the message names.',
    short_stock: 'Too little of a variant is left. The message says how much; order less, or wait for stock.',
    price_changed: 'A price changed since the cart was made. Show the new one and send `accept_prices: true`.',
    in_use: 'Others still refer to the resource. The message says what to move or end first.',
    limit_reached: 'As much of this exists, or waits, as may. Remove something, or try again when less waits.',
    not_acknowledged: 'The app has not acknowledged what it was given before. Wait until it has, or uninstall it.',
    clashed: 'Another request changed the same at this moment. Send it again.',
  },
  precondition_failed: {
    version_changed: 'The resource is no longer as `If-Match` says. Read it, and decide anew.',
  },
  payload_too_large: {
    too_large: 'The body or file is larger than the message says. Send less at once.',
  },
  unsupported_media_type: {
    wrong_content_type: 'The body has another type than the operation takes. The message names the right one.',
    wrong_encoding: 'The body is compressed. Send it as it is.',
  },
  unprocessable: {
    cannot_be_applied: 'The request is well-formed and cannot be applied as a whole. Correct what the message names.',
    unknown_reference: 'The request names a resource that the workspace does not have. Make it, or leave it out.',
    limit_reached: 'It would be more than there may be. Send fewer, or remove some first.',
    storage_full: 'The files of the workspace take all the room there is. Send a smaller one, or ask for more.',
    forbidden_target: 'The host of the URL is not public. Use one that the internet reaches.',
    too_costly: 'It takes too much time or memory to evaluate. Make it simpler.',
  },
  rate_limited: {
    too_many_requests: 'The key has sent too many requests. Wait for `Retry-After` seconds.',
    too_many_at_once: 'The workspace has too many requests under way. Send fewer at once, after `Retry-After` seconds.',
    locked: 'Other requests are changing the same. Nothing was applied; repeat it after `Retry-After` seconds.',
    too_many_wrong_keys: 'The address has sent too many wrong keys. Correct the key before the next request.',
  },
  internal_error: {
    internal_error:
      'Something is wrong on our side. Repeat it, a POST with its `Idempotency-Key`, or send support the `X-Request-Id`.',
  },
  service_unavailable: {
    unavailable:
      'A part of the system does not answer now. Repeat it after `Retry-After` seconds, a POST with its `Idempotency-Key`.',
    took_too_long: 'The request took too long. Ask for less at once, or repeat it later.',
  },
  gateway_timeout: {
    no_answer_in_time: 'It may have taken effect. Read first, or repeat it with the same `Idempotency-Key`.',
  },
} as const
