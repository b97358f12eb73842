import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { noSuchEndpoint } from './endpoint.ts'

/** The `provider` of the app whose endpoint it is; null for the workspace's own. */
const EndpointStatus = named('WebhookEndpointStatus', z.strictObject({ app: z.string().nullable() }), {
  app: 'example-pay',
})

/** GET /v1/webhooks/{id}/status (extension, OP-231): whose endpoint it is. */
export const getEndpointStatus = operation({
  operationId: 'getWebhookEndpointStatus',
  method: 'GET',
  path: '/v1/webhooks/{id}/status',
  summary: 'Read whose a webhook endpoint is',
  scope: 'webhook::read',
  responses: { 200: EndpointStatus },
  openPoints: ['OP-231'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [status] = await tx<z.output<typeof EndpointStatus>[]>`
        select provider as app from endpoint
        left join app_key on app_key.workspace_id = endpoint.workspace_id and app_key.id = endpoint.made_by
        left join app_installation on app_installation.workspace_id = endpoint.workspace_id
          and app_installation.id = app_key.installation_id
        where endpoint.workspace_id = ${tx.context.workspaceId} and endpoint.id = ${id}`
      if (status === undefined) throw noSuchEndpoint(id)
      return ok(status)
    }),
})
