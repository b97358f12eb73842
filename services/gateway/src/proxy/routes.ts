/** Which service answers which part of `/v1`: the first segment after it decides. */
const ROUTES = {
  products: 'catalog',
  categories: 'catalog',
  tags: 'catalog',
  assets: 'catalog',
  webhooks: 'webhook-delivery',
} as const

export type ServiceName = (typeof ROUTES)[keyof typeof ROUTES]

const PATH = /^\/v1\/([a-z-]+)(?=[/?]|$)/
/** A segment that is `.` or `..`, however it is written: what it is taken for depends on who reads it. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?\\]|$)/i

/** The service that answers a request target (`/v1/products?page=2`); undefined when none does. */
export function serviceFor(target: string): ServiceName | undefined {
  const resource = PATH.exec(target)?.[1]
  if (resource === undefined || !Object.hasOwn(ROUTES, resource) || DOT_SEGMENT.test(target)) return undefined
  return ROUTES[resource as keyof typeof ROUTES]
}
