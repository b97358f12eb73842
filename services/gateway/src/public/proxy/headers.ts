import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Request headers that reach a service. All others are dropped, among them hop-by-hop headers, credentials,
 * `X-Internal-*`, `Forwarded`, `X-Forwarded-*` and `X-Request-Id`.
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
  'deprecation',
  'error-reason',
  'etag',
  'idempotent-replayed',
  'last-modified',
  'link',
  'location',
  'retry-after',
  'sunset',
  'vary',
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

/** The API, as opposed to stored files, pages and documentation. */
const API = /^\/(?:v1|admin|console\/api)(?:[/?]|$)/

/**
 * Keeps answers of the API out of caches, refusals too: an answer belongs to the key of its request, and a cache that
 * knows nothing of `X-Api-Key` would hand it to another tenant (RFC 9111).
 */
export function keepFromCaches(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ url }, reply) => {
    if (API.test(url)) reply.headers({ 'cache-control': 'private, no-store', vary: 'Authorization, X-Api-Key' })
  })
}
