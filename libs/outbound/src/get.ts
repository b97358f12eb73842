import { type Dispatcher, request } from 'undici'
import { SendingError } from './failure.ts'
import type { TargetPolicy } from './target-address.ts'
import { targetUrl } from './target-url.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const REDIRECTS_AT_MOST = 3

interface Getting {
  readonly policy: TargetPolicy
  readonly headers: Record<string, string>
  /** Ends the exchange when it is aborted, also while the body is read. */
  readonly signal: AbortSignal
}

/**
 * Sends one GET and follows up to three redirects. Each URL is held to the rules of targets (OP-70), and `agent`
 * connects to allowed addresses only. As browsers do for images, it asks for http by https. Returns the response, whose
 * body the caller reads or destroys. Throws `SendingError`, or what ended the exchange (`failureOf`).
 */
export async function get(
  agent: Dispatcher,
  url: string,
  { policy, ...options }: Getting,
): Promise<Dispatcher.ResponseData> {
  let next = urlToGet(url, undefined, policy)
  for (let redirects = 0; ; redirects++) {
    const response = await request(next, { dispatcher: agent, ...options })
    const { location } = response.headers
    if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') return response
    response.body.on('error', () => undefined).destroy()
    if (redirects === REDIRECTS_AT_MOST) throw new SendingError('status', `redirects more than ${redirects} times`)
    next = urlToGet(location, next, policy)
  }
}

function urlToGet(text: string, base: URL | undefined, policy: TargetPolicy): URL {
  const url = URL.parse(text, base?.href)
  if (url === null) throw new SendingError('blocked', 'redirects to what is no URL')
  if (!policy.allowLoopback && url.protocol === 'http:' && url.port === '') url.protocol = 'https:'
  const { error } = targetUrl(policy).safeParse(url.href)
  const where = base === undefined ? 'the URL' : `redirects to ${url.host}: the URL`
  if (error !== undefined) throw new SendingError('blocked', `${where} ${error.issues[0]?.message}`)
  return url
}
