import { LIMITS } from '@backoffice/contracts/limits.ts'
import { withinMs } from '@backoffice/http/body-deadline.ts'
import { uploadBytes } from '@backoffice/http/upload.ts'

/** Which service answers which part of `/v1`: the first segment after it decides. */
const ROUTES = {
  products: 'catalog',
  categories: 'catalog',
  tags: 'catalog',
  assets: 'catalog',
  collections: 'collections',
  webhooks: 'webhook-delivery',
} as const

export type ServiceName = (typeof ROUTES)[keyof typeof ROUTES]

/** What the gateway lets through on a route. */
export interface RouteLimits {
  readonly bodyBytes: number
  readonly bodyWithinMs: number
  /** Carries a file: goes on connections of its own, since slow ones must not hold up the rest. */
  readonly isFile: boolean
}

/** The limits of every route that takes no file (OP-07). */
export const JSON_LIMITS: RouteLimits = {
  bodyBytes: LIMITS.bodyBytes,
  bodyWithinMs: withinMs(0),
  isFile: false,
}

const fileLimits = (maxBytes: number): RouteLimits => {
  const bodyBytes = uploadBytes(maxBytes)
  return { bodyBytes, bodyWithinMs: withinMs(bodyBytes), isFile: true }
}

/** The routes that take a file, with its limits (OP-07). */
export const FILE_ROUTES: Readonly<Record<string, RouteLimits>> = { '/v1/assets': fileLimits(LIMITS.assetBytes) }

const PATH = /^\/v1\/([a-z-]+)(?=[/?]|$)/
/** A segment that is `.` or `..`, however it is written: what it is taken for depends on who reads it. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?\\]|$)/i

/** The service that answers a request target (`/v1/products?page=2`); undefined when none does. */
export function serviceFor(target: string): ServiceName | undefined {
  const resource = PATH.exec(target)?.[1]
  if (resource === undefined || !Object.hasOwn(ROUTES, resource) || DOT_SEGMENT.test(target)) return undefined
  return ROUTES[resource as keyof typeof ROUTES]
}

/** A stored file's path (`/assets/<workspace>/<asset>/file.jpg`) and no other, so that nothing else of the service is reached. */
const ASSET = /^\/assets\/[0-9a-f-]{36}\/[0-9a-f-]{36}\/[a-z]+\.[a-z0-9]+$/

/** The path of a stored file as its service knows it, without the query; undefined when it can be none. */
export function assetPath(target: string): string | undefined {
  const [path = ''] = target.split('?', 1)
  return ASSET.test(path) ? path : undefined
}
