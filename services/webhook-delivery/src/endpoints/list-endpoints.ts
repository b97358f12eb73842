import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okCountedPage } from '@backoffice/http/paged-body.ts'
import { ENDPOINT, Endpoint, type EndpointRecord, endpointColumns } from './endpoint.ts'

/** About the bytes of an endpoint beside its texts. */
const ENDPOINT_BYTES = 400

/** GET /v1/webhooks: the workspace's endpoints, newest first, without their secrets. */
export const listEndpoints = operation({
  operationId: 'listWebhookEndpoints',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List webhook endpoints',
  scope: 'webhook::read',
  query: ListQuery,
  responses: { 200: Page(Endpoint) },
  openPoints: ['OP-03', 'OP-60', 'OP-62'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace((tx) =>
      okCountedPage<EndpointRecord>(tx, query, {
        columns: tx`${endpointColumns(tx)}`,
        source: tx`from endpoint where workspace_id = ${tx.context.workspaceId}`,
        bytes: tx`octet_length(concat(url, enabled_events, description)) + ${ENDPOINT_BYTES}`,
        bodyOf: (endpoint) => ENDPOINT.answerOf(endpoint),
      }),
    ),
})
