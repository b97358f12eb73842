import { randomBytes } from 'node:crypto'

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The caller's W3C traceparent if it is well-formed, else a new one, so that every request has a trace. */
export function traceparentFrom(header: string | string[] | undefined): string {
  if (typeof header === 'string' && TRACEPARENT.test(header)) return header
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
}
