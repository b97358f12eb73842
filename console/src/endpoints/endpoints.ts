import { queryOptions, useQuery } from '@tanstack/react-query'
import { allOf } from '../api/all-of.ts'
import { api, bodyOf, type components, taggedOf } from '../api/client.ts'

export type Endpoint = components['schemas']['WebhookEndpoint']
export type EndpointStatus = components['schemas']['WebhookEndpointStatus']

const STATUS_MS = 15_000

/** All endpoints of the workspace: it has a few hundred at most. */
const allEndpoints = queryOptions({
  queryKey: ['endpoints', 'all'],
  staleTime: 60_000,
  queryFn: () => allOf((query) => bodyOf(api.GET('/v1/webhooks', { params: { query } }))),
})

export const useAllEndpoints = () => useQuery(allEndpoints)

export const readEndpoint = (id: string) => taggedOf(api.GET('/v1/webhooks/{id}', { params: { path: { id } } }))

export const endpointOf = (id: string) => queryOptions({ queryKey: ['endpoints', id], queryFn: () => readEndpoint(id) })

/** How an endpoint takes its deliveries. It is read again every few seconds. */
export const statusOf = (id: string) =>
  queryOptions({
    queryKey: ['endpoints', id, 'status'],
    queryFn: () => bodyOf(api.GET('/v1/webhooks/{id}/status', { params: { path: { id } } })),
    refetchInterval: STATUS_MS,
  })

/** The names of the events that endpoints can take. */
export const useEventTypes = () =>
  useQuery({
    queryKey: ['event-types'],
    queryFn: async (): Promise<readonly string[]> => (await bodyOf(api.GET('/v1/webhooks/event-types'))).event_types,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The name of the machine that an endpoint is on, as people know it: `shop.example.com`. */
export const hostOf = (url: string): string => URL.parse(url)?.host ?? url

/** An endpoint in few words. */
export function shortUrl(url: string): string {
  const { host, pathname } = URL.parse(url) ?? { host: url, pathname: '/' }
  const path = pathname === '/' ? '' : pathname
  return path.length > 24 ? `${host}${path.slice(0, 10)}…${path.slice(-10)}` : `${host}${path}`
}

/** What an endpoint is subscribed to, in few words. */
export const eventsInWords = (events: readonly string[]): string =>
  events.includes('*') ? 'all events' : events.length > 2 ? `${events.length} events` : events.join(', ')
