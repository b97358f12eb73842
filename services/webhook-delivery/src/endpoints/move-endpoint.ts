import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import { z } from 'zod'
import type { EndpointCreation } from './create-endpoint.ts'
import { endpointsChanged } from './endpoint.ts'

/**
 * POST /internal/endpoints/{id}/move: an app's endpoint follows its app from a `former` URL to another origin; what
 * waits is sent there (OP-227). One that the merchant has given another URL stays, and so does one that is deleted.
 */
export const moveEndpoint = ({ policy, resolve }: Pick<EndpointCreation, 'policy' | 'resolve'>) =>
  operation({
    method: 'POST',
    path: '/internal/endpoints/{id}/move',
    scope: 'internal',
    body: z.strictObject({ url: targetUrl(policy), former: z.array(z.string()) }),
    responses: { 204: null },

    async handle({ params: { id }, body: { url, former }, now, inWorkspace }) {
      await refuseForbiddenTarget({ url: new URL(url), path: ['url'] }, policy, resolve)
      return inWorkspace(async (tx) => {
        const { count } = await tx`
          update endpoint set url = ${url}, updated_at = greatest(updated_at, ${now})
          where workspace_id = ${tx.context.workspaceId} and id = ${id} and url = any(${former})`
        if (count > 0) await endpointsChanged(tx)
        return new Reply(204)
      })
    },
  })
