import type { FastifyRequest } from 'fastify'
import { forgedRequest } from '../document/refusals.ts'

/**
 * Refuses a POST that another site makes the browser send. Browsers say where a request comes from in Sec-Fetch-Site. Those that do
 * not have to send our Origin, which is `null` from a page without referrers. Throws a refusal.
 */
export function refuseCrossSite({ headers }: FastifyRequest, publicUrl: URL): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isOurs = origin === publicUrl.origin
  if (site === undefined ? !isOurs : site !== 'same-origin') throw forgedRequest()
  if (origin !== undefined && origin !== 'null' && !isOurs) throw forgedRequest()
}
