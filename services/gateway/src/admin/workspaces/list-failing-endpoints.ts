import { FailingEndpoint, FailingEndpointQuery } from '@backoffice/contracts/endpoint-state.ts'
import { Page } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { adminOperation } from '../admin-operation.ts'

/** GET /admin/v1/endpoints: the webhook endpoints of all workspaces that fail, worst first (OP-298). */
export const listFailingEndpoints = adminOperation({
  method: 'GET',
  path: '/admin/v1/endpoints',
  summary: 'List the webhook endpoints of all workspaces that fail, or were disabled because they did, worst first',
  query: FailingEndpointQuery,
  responses: { 200: Page(FailingEndpoint) },

  async handle({ query, askOne }) {
    const path = '/internal/failing-endpoints'
    return ok(await askOne('webhook-delivery', { method: 'GET', path, query, answer: Page(FailingEndpoint) }))
  },
})
