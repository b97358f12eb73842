import { Provider } from '@backoffice/contracts/app-manifest.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { keyHolder } from '../apps/record-act.ts'
import { noSuchInstalledApp } from './get-installed-app.ts'
import { uninstall } from './uninstall-app.ts'

/** DELETE /v1/apps/{provider} (extension): the merchant removes an app, as an operator uninstalls one (OP-226). */
export const deleteInstalledApp = ({ wake }: { wake(): void }) =>
  operation({
    method: 'DELETE',
    path: '/v1/apps/{provider}',
    operationId: 'deleteApp',
    summary: 'Uninstall an app of the workspace',
    scope: 'app::delete',
    params: z.strictObject({ provider: Provider }),
    responses: { 204: null },
    openPoints: ['OP-84', 'OP-226'],
    extension: true,

    async handle({ params: { provider }, context, now, inWorkspace }) {
      const reply = await inWorkspace(async (tx) => {
        const [installed] = await tx<{ id: string }[]>`
          select installation.id from installation join app on app.id = installation.app_id
          where installation.workspace_id = ${tx.context.workspaceId} and installation.state in ('PENDING', 'ACTIVE')
            and app.provider = ${provider}
          for no key update of installation`
        if (installed === undefined) throw noSuchInstalledApp(provider)
        await uninstall(tx, installed.id, 'merchant', keyHolder(context), now)
        return new Reply(204)
      })
      wake()
      return reply
    },
  })
