import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Upstream } from '../proxy/upstream.ts'

type Json = Record<string, unknown>

/** A merged document is served for this time, then the services are asked again. */
const FRESH_MS = 10_000

const INFO = {
  title: 'Commerce Back-Office API',
  version: 'v1',
  description:
    'Every request carries a workspace API key: `Authorization: Bearer <API_KEY>` (or `X-Api-Key: <API_KEY>`). ' +
    '`X-RateLimit-Limit` is how many requests the key may send at once, `X-RateLimit-Remaining` how many of them are left ' +
    'and `X-RateLimit-Reset` the Unix second at which all of them are back.',
}
const SECURITY_SCHEMES = { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'sk_live_… or sk_test_…' } }

/**
 * The API's OpenAPI document, merged from the documents of the services and kept for 10 s. Of a service that is away it has the
 * last known paths. Throws `service_unavailable` when there are none, since a document without them would look complete.
 */
export function mergedDocument(upstreams: readonly Upstream[], clock: () => Date): () => Promise<Json> {
  const lastPaths = new Map<Upstream, Json>()
  let merged: { readonly document: Promise<Json>; readonly until: number } | undefined

  async function pathsOf(upstream: Upstream): Promise<Json> {
    try {
      const paths = await fetchPaths(upstream)
      lastPaths.set(upstream, paths)
      return paths
    } catch (error) {
      const last = lastPaths.get(upstream)
      if (last === undefined) throw error
      return last
    }
  }

  async function merge(): Promise<Json> {
    const paths: Json = Object.assign({}, ...(await Promise.all(upstreams.map(pathsOf))))
    return {
      openapi: '3.1.0',
      info: INFO,
      servers: [{ url: '/' }],
      components: { securitySchemes: SECURITY_SCHEMES },
      paths,
    }
  }

  return () => {
    const now = clock().getTime()
    if (merged !== undefined && merged.until > now) return merged.document
    const document = merge()
    merged = { document, until: now + FRESH_MS }
    document.catch(() => {
      merged = undefined
    })
    return document
  }
}

async function fetchPaths(upstream: Upstream): Promise<Json> {
  const { statusCode, body } = await upstream.send({ method: 'GET', path: '/openapi.json', headers: {} })
  const answer = await body.json()
  if (statusCode !== 200) throw new ApiError('service_unavailable', `${upstream.name} does not tell its operations now`)
  const { paths } = answer as { paths: Record<string, Json> }
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, withTag(path, item)]))
}

/** Tags each operation with the resource in its path, so that the page groups them. */
const withTag = (path: string, item: Json): Json =>
  Object.fromEntries(
    Object.entries(item).map(([method, entry]) => [method, { tags: [path.split('/')[2]], ...(entry as Json) }]),
  )
