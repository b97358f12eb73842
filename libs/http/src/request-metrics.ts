import { counter, durations } from '@backoffice/runtime/metrics.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Names the route of a service's answer, for the gateway's metrics. The gateway does not pass it on. */
export const ROUTE_HEADER = 'x-route'

const requests = counter(
  'http_server_requests',
  'Requests by method, route and class of status; in the gateway by service too. A request whose client left is 4xx',
)
const duration = durations(
  'http_server_request_duration_seconds',
  'From the head of a request to the end of its answer',
)
const refusals = counter('http_server_refusals', 'Requests refused here, by error code')

/** Clients choose the method: others than these share a label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])

interface CountedRequest {
  readonly method: string
  /** The path with names for its ids, never as it was sent. */
  readonly route: string
  readonly upstream?: unknown
  readonly status: number
  readonly code?: unknown
}

/** Counts a request. Returns its labels but for the status. */
export function countRequest({ method, route, upstream, status, code }: CountedRequest) {
  const labels = {
    method: METHODS.has(method) ? method : 'other',
    route,
    ...(typeof upstream === 'string' && { upstream }),
  }
  requests.add(1, { ...labels, status: `${Math.floor(status / 100)}xx` })
  if (typeof code === 'string') refusals.add(1, { code })
  return labels
}

/** Counts a request that Fastify has answered, and measures how long it took. */
export function measureRequest({ method, routeOptions, logged }: FastifyRequest, reply: FastifyReply, status: number) {
  const route = typeof logged.route === 'string' ? logged.route : (routeOptions.url ?? 'unknown')
  const labels = countRequest({ method, route, upstream: logged.upstream, status, code: logged.error_code })
  duration.record(reply.elapsedTime / 1000, labels)
}
