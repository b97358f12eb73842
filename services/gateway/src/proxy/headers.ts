import type { IncomingHttpHeaders } from 'node:http'

/**
 * Request headers that reach a service. Everything else stays here: what belongs to one connection, credentials,
 * `X-Internal-*`, `Forwarded` and `X-Forwarded-*`, `X-Request-Id`, and whatever somebody thinks up next.
 */
const TO_SERVICE = [
  'accept',
  'accept-language',
  'content-encoding',
  'content-length',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'if-range',
  'range',
  'user-agent',
] as const

/** Response headers that reach the client; nothing that tells of the inside. */
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

/** The client's headers that a service may see. */
export const headersForService = (headers: IncomingHttpHeaders): Record<string, string> => pick(headers, TO_SERVICE)

/** The service's headers that the client may see. */
export const headersForClient = (headers: IncomingHttpHeaders): Record<string, string> => pick(headers, TO_CLIENT)

function pick(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) picked[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return picked
}
