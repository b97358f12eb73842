import type { IncomingHttpHeaders } from 'node:http'

/**
 * Request headers that reach a service. All others are dropped, among them hop-by-hop headers, credentials, `X-Internal-*`,
 * `Forwarded`, `X-Forwarded-*` and `X-Request-Id`.
 */
const TO_SERVICE = [
  'accept',
  'accept-language',
  'content-length',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'if-range',
  'range',
  'user-agent',
] as const

/** Response headers that reach the client. All others are dropped, since they may reveal internals. */
const TO_CLIENT = [
  'accept-ranges',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'etag',
  'last-modified',
  'location',
  'retry-after',
  'vary',
  'x-content-type-options',
] as const

/** The client's headers for the service. */
export const headersForService = (headers: IncomingHttpHeaders): Record<string, string> => pick(headers, TO_SERVICE)

/** The service's headers for the client. */
export const headersForClient = (headers: IncomingHttpHeaders): Record<string, string> => pick(headers, TO_CLIENT)

function pick(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) picked[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return picked
}
