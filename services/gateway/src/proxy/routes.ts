import { LIMITS } from '@backoffice/contracts/limits.ts'
import { ROUTED_SERVICES, type RoutedService, SERVICES } from '@backoffice/contracts/services.ts'
import { withinMs } from '@backoffice/http/body-deadline.ts'
import { uploadBytes } from '@backoffice/http/upload.ts'

/** The service of each route. */
const ROUTES: ReadonlyMap<string, RoutedService> = new Map(
  ROUTED_SERVICES.flatMap((name) => SERVICES[name].routes.map((route) => [route, name] as const)),
)

/** The limits of a request on a route. */
export interface RouteLimits {
  readonly bodyBytes: number
  readonly bodyWithinMs: number
  /** Whether it carries a file: slow files get connections of their own, so that they do not delay other requests. */
  readonly isFile: boolean
}

/** The limits of every route without a file (OP-07). */
export const JSON_LIMITS: RouteLimits = {
  bodyBytes: LIMITS.bodyBytes,
  bodyWithinMs: withinMs(0),
  isFile: false,
}

const fileLimits = (maxBytes: number): RouteLimits => {
  const bodyBytes = uploadBytes(maxBytes)
  return { bodyBytes, bodyWithinMs: withinMs(bodyBytes), isFile: true }
}

/** The routes with a file, and their limits (OP-07). */
export const FILE_ROUTES: Readonly<Record<string, RouteLimits>> = { '/v1/assets': fileLimits(LIMITS.assetBytes) }

/** `/v1` and the next segment: they decide the service. */
const ROUTE = /^\/v1\/[a-z-]+(?=[/?]|$)/
/** A segment that is `.` or `..` in any spelling: readers of the path do not agree on its meaning. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?\\]|$)/i

/** The service that answers a request target (`/v1/products?page=2`); undefined when none does. */
export function serviceFor(target: string): RoutedService | undefined {
  if (DOT_SEGMENT.test(target)) return undefined
  return ROUTES.get(ROUTE.exec(target)?.[0] ?? '')
}

/** The path of a stored file (`/assets/<workspace>/<asset>/file.jpg`). No other path of the service is reachable. */
const ASSET = /^\/assets\/[0-9a-f-]{36}\/[0-9a-f-]{36}\/[a-z]+\.[a-z0-9]+$/

/** The path of a stored file in a request target, without the query; undefined for any other target. */
export function assetPath(target: string): string | undefined {
  const [path = ''] = target.split('?', 1)
  return ASSET.test(path) ? path : undefined
}
