import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { ENDPOINT, Endpoint, type EndpointRecord, endpointColumns } from './endpoint.ts'

/** GET /v1/webhooks: the workspace's endpoints, newest first, without their secrets. */
export const listEndpoints = operation({
  operationId: 'listWebhookEndpoints',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List webhook endpoints',
  scope: 'webhook::read',
  query: ListQuery,
  responses: { 200: Page(Endpoint) },
  refusals: ['unprocessable'],
  openPoints: ['OP-03', 'OP-60', 'OP-62'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = await countedPage<EndpointRecord>(tx, query, {
        columns: endpointColumns(tx),
        source: tx`from endpoint where workspace_id = ${tx.context.workspaceId}`,
      })
      return ok({ ...page, items: page.items.map((endpoint) => ENDPOINT.answerOf(endpoint)) })
    }),
})
