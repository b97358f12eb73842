import { LIMITS } from '@backoffice/contracts/limits.ts'
import { ROUTED_SERVICES, type RoutedService, SERVICES } from '@backoffice/contracts/services.ts'
import { JSON_WITHIN_MS, UPLOAD_IDLE_MS, uploadWithinMs } from '@backoffice/http/body-deadline.ts'
import { uploadBytes } from '@backoffice/http/upload.ts'
import type { Connections } from '../upstreams/upstream.ts'

/** What services offer the console alone, under `/console/` instead of `/console/api/` (OP-309). */
const CONSOLE_ROUTES = {
  '/console/api/collections': 'collections',
  '/console/api/webhooks': 'webhook-delivery',
} as const satisfies Record<string, RoutedService>

const ROUTES: ReadonlyMap<string, RoutedService> = new Map([
  ...ROUTED_SERVICES.flatMap((name) => SERVICES[name].routes.map((route) => [route, name] as [string, RoutedService])),
  ...Object.entries(CONSOLE_ROUTES),
])

export interface RouteLimits {
  readonly bodyBytes: number
  readonly bodyWithinMs: number
  /** How long the body may stand still. */
  readonly bodyIdleMs: number
  /** An upload is streamed to its service; other bodies are received completely before. */
  readonly isUpload: boolean
  /** Those over which it reaches its service. */
  readonly connections: Connections
  /** From the body's last byte to the answer's head, where it may take longer than others over its connections. */
  readonly answerMs?: number
}

/** imports stores a file of 1 GiB after its last byte; at least 1 MiB a second is expected of the storage. */
const IMPORT_ANSWER_MS = 20 * 60_000

/** The limits of every route that is not slow (OP-07). */
export const JSON_LIMITS: RouteLimits = {
  bodyBytes: LIMITS.bodyBytes,
  bodyWithinMs: JSON_WITHIN_MS,
  bodyIdleMs: JSON_WITHIN_MS,
  isUpload: false,
  connections: 'requests',
}

interface SlowRoute extends RouteLimits {
  readonly method: ('GET' | 'HEAD' | 'POST')[]
  readonly url: `/v1/${string}`
}

function upload(url: SlowRoute['url'], maxBytes: number): SlowRoute {
  const bodyBytes = uploadBytes(maxBytes)
  return {
    method: ['POST'],
    url,
    bodyBytes,
    bodyWithinMs: uploadWithinMs(bodyBytes),
    bodyIdleMs: UPLOAD_IDLE_MS,
    isUpload: true,
    connections: 'files',
  }
}

const stream = (url: SlowRoute['url'], connections: Connections): SlowRoute => ({
  ...JSON_LIMITS,
  method: ['GET', 'HEAD'],
  url,
  connections,
})

/** The requests that may take long, with their limits (OP-07). */
export const SLOW_ROUTES: readonly SlowRoute[] = [
  upload('/v1/assets', LIMITS.assetBytes),
  { ...upload('/v1/imports', LIMITS.importBytes), answerMs: IMPORT_ANSWER_MS },
  stream('/v1/imports/:id/errors.csv', 'files'),
  stream('/v1/imports/:id/corrected.csv', 'files'),
  stream('/v1/imports/:id/progress', 'events'),
]

/** `/v1` or `/console/api` and the next segment: they decide the service. */
const ROUTE = /^\/(?:v1|console\/api)\/[a-z-]+(?=[/?]|$)/
/** A segment that is `.` or `..` in any spelling: readers of the path do not agree on its meaning. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/\\]|$)/i
/** An empty segment, as of a slash at the end: the router takes it for an empty id. */
const EMPTY_SEGMENT = /\/(?=\/|$)/

/** The service that answers a request target (`/v1/products?page=2`); undefined when none does. */
export function serviceFor(target: string): RoutedService | undefined {
  const [path = ''] = target.split('?', 1)
  if (DOT_SEGMENT.test(path) || EMPTY_SEGMENT.test(path)) return undefined
  return ROUTES.get(ROUTE.exec(target)?.[0] ?? '')
}

/** The target that a service sees. */
export const targetForService = (target: string): string => target.replace(/^\/console\/api\//, '/console/')

/** The route of a request target, as the gateway knows it: `/v1/products/*` for everything below `/v1/products`. */
export function routeOf(target: string): string {
  const prefix = ROUTE.exec(target)?.[0] ?? '/v1'
  return target.charAt(prefix.length) === '/' ? `${prefix}/*` : prefix
}

/** The path of a stored file (`/assets/<workspace>/<asset>/file.jpg`). No other path of the service is reachable. */
const ASSET = /^\/assets\/[0-9a-f-]{36}\/[0-9a-f-]{36}\/[a-z]+\.[a-z0-9]+$/

/** The path of a stored file in a request target, without the query; undefined for any other target. */
export function assetPath(target: string): string | undefined {
  const [path = ''] = target.split('?', 1)
  return ASSET.test(path) ? path : undefined
}
