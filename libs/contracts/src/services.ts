import { EVENT_TOPICS, TOPICS, type Topic } from './events.ts'

/** A topic of records, or of those that a consumer could not process. */
type ConsumedTopic = Topic | `${string}.dead-letters`

interface Service {
  /** The paths that the service answers, with everything below them: `/v1/products`. */
  readonly routes: readonly `/v1/${string}`[]
  readonly publishes: readonly Topic[]
  readonly consumers: Readonly<Record<string, readonly ConsumedTopic[]>>
  /** The services that this one sends requests to. The gateway calls every service with routes without naming it. */
  readonly calls: readonly string[]
  /** The settings that the service needs besides those of every service, and those of the services it calls. */
  readonly settings: readonly string[]
}

/** The consumer of every service but the gateway, which publishes the records. `runService` runs it. */
const WORKSPACES = { workspaces: [TOPICS.gatewayWorkspaces] } as const

/** Every service: the routes, the topics, the local stack and the common settings follow from it. */
export const SERVICES = {
  gateway: {
    routes: [],
    publishes: [TOPICS.gatewayWorkspaces],
    consumers: { acts: [TOPICS.appsActs] },
    calls: [],
    settings: ['ADMIN_TOKEN', 'API_KEY_CHECK_KEYS', 'ASSETS_URL', 'PUBLIC_URL'],
  },
  catalog: {
    routes: ['/v1/products', '/v1/stock', '/v1/categories', '/v1/tags', '/v1/assets'],
    publishes: [TOPICS.catalogEvents, TOPICS.catalogProducts, TOPICS.importsResults],
    consumers: {
      imports: [TOPICS.importsBatches],
      reservations: [TOPICS.ordersReservations],
      returns: [TOPICS.ordersReturns],
      ...WORKSPACES,
    },
    calls: [],
    settings: ['ASSETS_DIRECTORY', 'ASSETS_URL', 'IMAGES_ALLOW_LOOPBACK'],
  },
  collections: {
    routes: ['/v1/collections'],
    publishes: [TOPICS.collectionsEvents, TOPICS.importsResults],
    consumers: { products: [TOPICS.catalogProducts], imports: [TOPICS.importsBatches], ...WORKSPACES },
    calls: ['catalog'],
    settings: ['ASSETS_URL'],
  },
  orders: {
    routes: ['/v1/orders', '/v1/customers', '/v1/invoices', '/v1/credit-notes'],
    publishes: [
      TOPICS.ordersEvents,
      TOPICS.ordersErasures,
      TOPICS.ordersReservations,
      TOPICS.ordersReturns,
      TOPICS.importsResults,
    ],
    consumers: { imports: [TOPICS.importsBatches], ...WORKSPACES },
    calls: ['catalog', 'apps'],
    settings: [],
  },
  imports: {
    routes: ['/v1/imports'],
    publishes: [TOPICS.importsBatches, TOPICS.importsEvents],
    consumers: {
      results: [TOPICS.importsResults],
      'rejected-batches': [
        'catalog.imports.dead-letters',
        'collections.imports.dead-letters',
        'orders.imports.dead-letters',
      ],
      ...WORKSPACES,
    },
    calls: ['catalog', 'collections', 'orders'],
    settings: ['IMPORTS_DIRECTORY'],
  },
  apps: {
    routes: ['/v1/apps', '/v1/sandbox'],
    publishes: [TOPICS.appsActs],
    consumers: WORKSPACES,
    calls: ['gateway', 'webhook-delivery'],
    settings: ['APP_SECRET_KEYS', 'APP_TOKEN_KEYS', 'APPS_ALLOW_LOOPBACK', 'PLATFORM_ISSUER'],
  },
  'webhook-delivery': {
    routes: ['/v1/webhooks', '/v1/deliveries'],
    publishes: [],
    consumers: { 'fan-out': EVENT_TOPICS, erasures: [TOPICS.ordersErasures], ...WORKSPACES },
    calls: [],
    settings: ['WEBHOOK_SECRET_KEYS', 'WEBHOOK_ALLOW_LOOPBACK'],
  },
} as const satisfies Record<string, Service>

/** Topics whose records come from outside this repository. */
export const TOPICS_FROM_OUTSIDE: readonly Topic[] = [TOPICS.platformEvents]

type Services = typeof SERVICES
export type ServiceName = keyof Services
/** A service that answers a part of `/v1`. */
export type RoutedService = {
  [Name in ServiceName]: Services[Name]['routes'] extends readonly [] ? never : Name
}[ServiceName]
export type CalledBy<Name extends ServiceName> = Name extends 'gateway'
  ? RoutedService
  : Services[Name]['calls'][number]
export type Setting = Services[ServiceName]['settings'][number]

export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[]

const rowOf = (name: ServiceName): Service => SERVICES[name]

export const ROUTED_SERVICES = SERVICE_NAMES.filter((name) => rowOf(name).routes.length > 0) as RoutedService[]

/** The services that a service calls. */
export const calledBy = <Name extends ServiceName>(name: Name): readonly CalledBy<Name>[] =>
  (name === 'gateway' ? ROUTED_SERVICES : rowOf(name).calls) as readonly CalledBy<Name>[]

/** A service's consumers. `name` is the consumer group: `<service>.<consumer>`. */
export const consumersOf = (
  name: ServiceName,
): { readonly name: string; readonly topics: readonly ConsumedTopic[] }[] =>
  Object.entries(rowOf(name).consumers).map(([consumer, topics]) => ({ name: `${name}.${consumer}`, topics }))

/** The topic for the records that a consumer could not process. */
export const deadLetterTopic = (consumer: string) => `${consumer}.dead-letters` as const

/** The PostgreSQL schema of a service. The app role has the same name, the worker role is `<schema>_worker`. */
export const schemaOf = (name: string): string => name.replaceAll('-', '_')

type Snake<Name extends string> = Name extends `${infer Head}-${infer Tail}` ? `${Head}_${Snake<Tail>}` : Name
export type UrlSetting<Name extends string> = `${Uppercase<Snake<Name>>}_URL`

/** The setting that tells a caller the service's URL: `WEBHOOK_DELIVERY_URL`. */
export const urlSetting = <Name extends string>(name: Name): UrlSetting<Name> =>
  `${schemaOf(name).toUpperCase()}_URL` as UrlSetting<Name>

/**
 * The services in groups, in the order of stopping: the gateway first, through which all requests come, and each
 * service after its callers. Where services call each other in a circle, the longest chain of calls from the gateway
 * decides.
 */
export function stopGroups(callsOf: (name: ServiceName) => readonly ServiceName[] = calledBy): ServiceName[][] {
  const longest = new Map<ServiceName, number>()
  function follow(name: ServiceName, chain: readonly ServiceName[]): void {
    if (chain.includes(name)) return
    longest.set(name, Math.max(longest.get(name) ?? 0, chain.length))
    for (const called of callsOf(name)) follow(called, [...chain, name])
  }
  follow('gateway', [])
  const placeOf = (name: ServiceName) => longest.get(name) ?? 0
  const inOrder = SERVICE_NAMES.toSorted((a, b) => placeOf(a) - placeOf(b))
  return [...Map.groupBy(inOrder, placeOf).values()]
}
