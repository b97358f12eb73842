import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { endpointsChanged, noSuchEndpoint } from './endpoint.ts'

const MOST_PER_SECOND = 1000

const LIMITS = { requests_per_second: z.int().min(1).max(MOST_PER_SECOND).nullable() }
const EXAMPLE = { requests_per_second: 50 }

/** The limits of an endpoint (OP-257). The owner of the endpoint keeps them, by `Target.requestsPerSecond`. */
const EndpointLimits = namedObject('WebhookEndpointLimits', LIMITS, EXAMPLE)
type EndpointLimits = z.output<typeof EndpointLimits>

/** POST /v1/webhooks/{id}/limits (extension, OP-257): the most requests that an endpoint gets in any second. */
export const setEndpointLimits = operation({
  operationId: 'setWebhookEndpointLimits',
  method: 'POST',
  path: '/v1/webhooks/{id}/limits',
  summary: 'Limit the requests per second to a webhook endpoint',
  scope: 'webhook::create',
  body: namedObject('WebhookEndpointLimitsInput', LIMITS, EXAMPLE),
  responses: { 200: EndpointLimits },
  openPoints: ['OP-08', 'OP-257'],
  extension: true,

  handle: ({ params: { id }, body, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { count } = await tx`
        update endpoint set requests_per_second = ${body.requests_per_second}
        where workspace_id = ${tx.context.workspaceId} and id = ${id}`
      if (count === 0) throw noSuchEndpoint(id)
      await endpointsChanged(tx)
      return ok(body)
    }),
})

/** GET /v1/webhooks/{id}/limits (extension, OP-257). */
export const getEndpointLimits = operation({
  operationId: 'getWebhookEndpointLimits',
  method: 'GET',
  path: '/v1/webhooks/{id}/limits',
  summary: 'Read the limits of a webhook endpoint',
  scope: 'webhook::read',
  responses: { 200: EndpointLimits },
  openPoints: ['OP-257'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [limits] = await tx<EndpointLimits[]>`
        select requests_per_second from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${id}`
      if (limits === undefined) throw noSuchEndpoint(id)
      return ok(limits)
    }),
})
