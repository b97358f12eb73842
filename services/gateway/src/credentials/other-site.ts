import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether another site makes the browser send a request that changes something. Browsers say where a request comes from
 * in Sec-Fetch-Site. Those that do not have to send our Origin, which is `null` from a page without referrers.
 */
export function isOfOtherSite(headers: IncomingHttpHeaders, isOurOrigin: (origin: string) => boolean): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  const isOurs = origin !== undefined && isOurOrigin(origin)
  if (site === undefined ? !isOurs : site !== 'same-origin') return true
  return origin !== undefined && origin !== 'null' && !isOurs
}
