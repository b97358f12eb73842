import { type Components, mergeComponents, refuseRepeated } from '@backoffice/http/openapi-components.ts'
import { describeWebhooks } from './webhooks.ts'

type Json = Record<string, unknown>

/** A service's part of the document (libs/http/src/openapi.ts). */
export interface PartialDocument {
  readonly paths: Readonly<Record<string, Json>>
  readonly components: Components
}

/** The open points that concern every operation, and the events. */
const GENERAL_OPEN_POINTS = [
  2, 5, 6, 9, 25, 27, 28, 29, 58, 87, 88, 89, 161, 162, 163, 165, 170, 172, 192, 244, 261, 262, 263, 265, 266, 268, 302,
  303, 324,
].map((number) => `OP-${String(number).padStart(2, '0')}`)

/** The day of the latest change of the API, as the first section of docs/changelog.md (OP-262). */
const API_VERSION = '2026-11-26'

const INFO = {
  title: 'Commerce Back-Office API',
  version: API_VERSION,
  description: [
    'Every request carries a workspace API key: `Authorization: Bearer <API_KEY>` or `X-Api-Key: <API_KEY>`. Keys begin with ' +
      '`sk_live_` or `sk_test_`; both headers with different keys are `invalid_api_key`.',
    'Every error has the body `{error: {code, message, request_id}}`. `message` names the member by its path, and `request_id` is the ' +
      '`X-Request-Id` of the answer. The header `Error-Reason` says more than `code`, for programs, and `Link` leads to what to do. A well-formed ' +
      '`traceparent` is continued.',
    '`X-RateLimit-Limit` is how many requests the key may send at once, `X-RateLimit-Remaining` how many of them are left ' +
      'and `X-RateLimit-Reset` the Unix second at which all of them are back. `Retry-After` says when to repeat a request that ' +
      'was `rate_limited`.',
    'Members of a body and parameters of a query that nobody knows are `bad_request`. An answer has all its members: unset ones are ' +
      '`null`, empty lists `[]`, empty maps `{}`. `{}` counts as no body where an operation takes none.',
    'Answers and events are open: members may come, and so may values beside those in `x-known-values`. A list or map of `null` in a ' +
      'request is as if it were not sent, unless the member can be unset.',
    'A category or tag that a product names and that is not there is created with it.',
    'A write whose connection breaks is not repeated by the gateway; repeat it with the same `Idempotency-Key`.',
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
  'x-open-point': GENERAL_OPEN_POINTS,
}

const SECURITY_SCHEMES = { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'sk_live_… or sk_test_…' } }

/** Made for the first document, since it takes a while. */
let events: ReturnType<typeof describeWebhooks> | undefined

/**
 * Merges the services' parts into the API's OpenAPI document. Throws when two operations have one id, or when two
 * services have different schemas of one name. `server` is the absolute address of the API (OP-261).
 */
export function mergeDocuments(parts: readonly PartialDocument[], server: string): Json {
  events ??= describeWebhooks()
  const paths = Object.assign({}, ...parts.map((part) => part.paths))
  refuseRepeated(Object.values<Json>(paths).flatMap(operationIds))
  return {
    openapi: '3.1.0',
    info: INFO,
    externalDocs: { description: 'Guides', url: `${server}/docs/guides` },
    servers: [{ url: server }],
    components: mergeComponents([
      { securitySchemes: SECURITY_SCHEMES },
      ...parts.map(({ components }) => components),
      events.components,
    ]),
    paths,
    webhooks: events.webhooks,
  }
}

const operationIds = (item: Json) => Object.values(item).map((entry) => (entry as { operationId: string }).operationId)
