import { Limits } from '@backoffice/contracts/usage.ts'
import { ok } from '@backoffice/http/reply.ts'
import { askedByOperator } from '../../public/upstreams/ask-service.ts'
import { limitsOf, withRateLimit } from '../../public/upstreams/limits-of.ts'
import { adminOperation } from '../admin-operation.ts'
import { findWorkspace } from './workspace.ts'

/** GET /admin/v1/workspaces/{id}/limits: how much a workspace may have, and has, as it sees it itself (OP-297). */
export const getWorkspaceLimits = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}/limits',
  summary: 'Read the limits of a workspace, and what it has of each',
  responses: { 200: Limits },

  async handle({ params: { id }, worker, standardLimit, ...asking }) {
    await findWorkspace(worker, id)
    return ok(await withRateLimit(await limitsOf(askedByOperator(id), asking), worker, id, standardLimit))
  },
})
