/** Why an attempt has no 2xx answer, by the class that the API tells. */
export const ERROR_CLASSES = [
  ['status', 'wrong status'],
  ['timeout', 'no answer in time'],
  ['refused', 'connection refused'],
  ['connection', 'connection broke'],
  ['dns', 'name not found'],
  ['tls', 'certificate'],
  ['blocked', 'address not public'],
] as const

const WORDS = new Map<string, string>(ERROR_CLASSES)

/** How the last attempt ended, in few words: `500`, or `no answer in time`. */
export const outcomeOf = (status: number | null, errorClass: string | null): string | undefined =>
  status === null ? (errorClass && (WORDS.get(errorClass) ?? errorClass)) || undefined : String(status)

const OF_CLASS: Readonly<Record<string, string>> = {
  timeout:
    'The endpoint took longer than 20 seconds. Answer 200 as soon as the event is stored, and do the work afterwards.',
  refused: 'Nothing listens at this address. Check that the server runs, and that its port is open to the internet.',
  connection:
    'The connection broke off before the whole answer came. Look for a crash or a restart in the log of your server, or for a proxy that ends connections.',
  dns: 'The name of the endpoint has no address. Check how it is written, and its DNS records.',
  tls: 'The certificate is not valid for this name. Renew it, and let the server send the whole chain.',
  blocked:
    'The name leads to an address that is not public. Deliveries go to public addresses only: use a tunnel for a machine of your own.',
}

const OF_STATUS: Readonly<Record<number, string>> = {
  400: 'The endpoint did not accept the request. If it checks the signature, check it over the raw bytes of the body, with the secret of this endpoint.',
  401: 'The endpoint asks for credentials. Deliveries carry none: let requests in by their signature.',
  403: 'The endpoint, or a firewall before it, refuses the request. Let requests in by their signature, not by address.',
  404: 'There is nothing at this path. Check the URL of the endpoint.',
  405: 'The path takes no POST. Check the URL of the endpoint.',
  410: 'The endpoint says that it is gone. Delete it here if nobody needs it; deliveries go on until then.',
  413: 'The body is too large for the endpoint. Allow larger bodies.',
  429: 'The endpoint gets more than it takes. Give it a limit of requests in a second, on its page.',
  503: 'The endpoint is not available. With a Retry-After header it says for how long deliveries wait.',
}

/** What to do about an attempt that failed. */
export function adviceOn(errorClass: string, status: number | undefined): string {
  if (status === undefined) return OF_CLASS[errorClass] ?? 'Look into the log of your server at this time.'
  const known = OF_STATUS[status]
  if (known) return known
  if (status >= 500) return 'Your server failed while it handled the event. Look into its log at this time.'
  if (status >= 300 && status < 400) return 'Redirects are not followed. Enter the final URL at the endpoint.'
  return 'The endpoint did not accept the request. Any answer from 200 to 299 is a delivery.'
}
