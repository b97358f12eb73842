import { Installation } from '@backoffice/contracts/app.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type Databases, findInstallation, installationBody, inWorkspaceOf } from '../apps/installation-rows.ts'

/** GET /internal/installations/{id} (OP-81). */
export const getInstallation = (databases: Databases) =>
  operation({
    method: 'GET',
    path: '/internal/installations/{id}',
    scope: 'internal',
    responses: { 200: Installation },

    async handle({ params: { id }, context }) {
      const row = await inWorkspaceOf(databases, context, id, (tx) => findInstallation(tx, id))
      return ok(installationBody(row))
    },
  })
