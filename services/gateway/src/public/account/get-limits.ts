import { Limits } from '@backoffice/contracts/usage.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { RateLimit } from '../rate-limit/token-bucket.ts'
import type { Asking } from '../upstreams/ask-service.ts'
import { limitsOf, withRateLimit } from '../upstreams/limits-of.ts'

/** GET /v1/limits (extension; OP-297): how much the workspace may have, and has. */
export const getLimits = (standard: RateLimit, asking: Omit<Asking, 'now'>) =>
  operation({
    operationId: 'getLimits',
    method: 'GET',
    path: '/v1/limits',
    summary: 'Read the limits of the workspace, and what it has of each',
    scope: 'workspace::read',
    responses: { 200: Limits },
    openPoints: ['OP-297'],
    extension: true,

    async handle({ context, now, inWorkspace }) {
      const { workspaceId } = context
      const limits = await limitsOf({ caller: context, owner: workspaceId }, { ...asking, now })
      return inWorkspace(async (tx) => ok(await withRateLimit(limits, tx, workspaceId, standard)))
    },
  })
