import { Installation } from '@backoffice/contracts/app.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import {
  type Databases,
  findInstallation,
  installationBody,
  inWorkspaceOf,
  lockInstallation,
} from '../apps/installation-rows.ts'
import { recordAct } from '../apps/record-act.ts'

/**
 * POST /internal/installations/{id}/decline: the merchant does not consent. A new installation ends as UNINSTALLED, and
 * the app hears nothing. An installed app stays as it was.
 */
export const declineInstallation = (databases: Databases) =>
  operation({
    method: 'POST',
    path: '/internal/installations/{id}/decline',
    scope: 'internal',
    responses: { 200: Installation },

    async handle({ params: { id }, context, now }) {
      const row = await inWorkspaceOf(databases, context, id, async (tx) => {
        const installation = await lockInstallation(tx, id)
        if (installation.requested_manifest === null) {
          if (installation.state === 'UNINSTALLED') return installation
          throw conflict([], 'nothing waits for consent; uninstall the app instead')
        }
        await tx`
          update installation set
            requested_manifest = null,
            state = case when manifest is null then 'UNINSTALLED' else state end,
            uninstalled_at = case when manifest is null then ${now}::timestamptz end
          where workspace_id = ${tx.context.workspaceId} and id = ${id}`
        await recordAct(tx, context, 'installation.declined', `installations/${id}`, now)
        return findInstallation(tx, id)
      })
      return ok(installationBody(row))
    },
  })
