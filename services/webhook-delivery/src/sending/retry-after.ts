import type { Exchange } from '@backoffice/outbound/post.ts'

const MOST_MS = 300_000
const STATUSES: readonly number[] = [429, 503]

/**
 * For how many milliseconds an endpoint asks for no further request: `Retry-After` of a 429 or 503, in seconds or as a
 * date, 5 minutes at most (OP-105). Undefined without one.
 */
export function retryAfterMs({ response }: Exchange, now: Date): number | undefined {
  const header = response && STATUSES.includes(response.status) ? response.headers['retry-after'] : undefined
  if (typeof header !== 'string') return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime()
  return ms > 0 ? Math.min(ms, MOST_MS) : undefined
}
