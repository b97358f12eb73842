import type { FastifyInstance } from 'fastify'

/** The API, as opposed to stored files, pages and documentation. */
const API = /^\/(?:v1|admin)(?:[/?]|$)/

/**
 * Keeps answers of the API out of caches, refusals too: an answer belongs to the key of its request, and a cache that knows nothing of
 * `X-Api-Key` would hand it to another tenant (RFC 9111).
 */
export function keepFromCaches(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ url }, reply) => {
    if (API.test(url)) reply.headers({ 'cache-control': 'private, no-store', vary: 'Authorization, X-Api-Key' })
  })
}
