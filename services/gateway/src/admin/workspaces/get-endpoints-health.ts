import { EndpointsHealth } from '@backoffice/contracts/endpoint-state.ts'
import { ok } from '@backoffice/http/reply.ts'
import { askedByOperator, askService } from '../../public/upstreams/ask-service.ts'
import { adminOperation } from '../admin-operation.ts'
import { findWorkspace } from './workspace.ts'

/** GET /admin/v1/workspaces/{id}/endpoints: how its webhook endpoints answer, worst first (OP-294). */
export const getEndpointsHealth = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}/endpoints',
  summary: 'List the webhook endpoints of a workspace, worst first, and how many it may have',
  responses: { 200: EndpointsHealth },

  async handle({ params: { id }, worker, ...asking }) {
    await findWorkspace(worker, id)
    const asked = { ...askedByOperator(id), path: '/internal/endpoints-health', answer: EndpointsHealth } as const
    return ok(await askService('webhook-delivery', asked, asking))
  },
})
