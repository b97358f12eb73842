import { AppDraft } from '@backoffice/contracts/app.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { z } from 'zod'
import { lockInstallation } from '../apps/installation-rows.ts'
import { keyHolder } from '../apps/record-act.ts'
import { hastenProvision } from '../calls/add-calls.ts'
import { consentTo, isOther } from '../installations/consent.ts'
import { requestInstallation } from '../installations/install-app.ts'
import { draftBody, findDraft, lockDraft, refuseApps, refuseBeyond } from './draft.ts'
import type { OwnWorkspace } from './own-workspaces.ts'

interface Installing {
  readonly secretKeys: SecretKeys
  workspaceOf(context: WorkspaceContext): Promise<OwnWorkspace>
  wake(): void
}

/** The most calls to a draft that wait: those of its installation, and of the uninstallations before it. */
const MOST_CALLS = 10

/**
 * POST /v1/sandbox/apps/{id}/install (extension): the holder of the key consents to the scopes of a draft, and the
 * provision begins. Once more makes a provision that waits at once, and installs what a new manifest asks for (OP-286).
 */
export const installDraft = ({ secretKeys, workspaceOf, wake }: Installing) =>
  operation({
    method: 'POST',
    path: '/v1/sandbox/apps/{id}/install',
    operationId: 'installAppDraft',
    summary: 'Install a draft of an app in the sandbox',
    scope: 'app::create',
    body: namedObject('AppDraftConsent', { scopes: z.array(z.string()).min(1) }, { scopes: ['sale::create'] }),
    responses: { 202: AppDraft },
    openPoints: ['OP-08', 'OP-81', 'OP-154', 'OP-286'],
    extension: true,

    async handle({ params: { id }, body: { scopes }, context, now, inWorkspace, storedAnswer }) {
      refuseApps(context)
      const stored = await storedAnswer()
      if (stored) return stored
      const { name, domain } = await workspaceOf(context)
      const reply = await inWorkspace(async (tx) => {
        const draft = await lockDraft(tx, id)
        const { manifest } = draft
        if (isOther(scopes, manifest.scopes)) {
          throw conflict(['scopes'], `must be those that the draft asks for: ${manifest.scopes.join(', ')}`)
        }
        refuseBeyond(manifest, context.scopes)
        await refuseManyCalls(tx, id)
        const actor = keyHolder(context)
        const requested = await requestInstallation(tx, draft, { name, domain }, actor, now)
        if (requested !== undefined) {
          await consentTo(tx, await lockInstallation(tx, requested), manifest, secretKeys, actor, now)
        } else if (draft.installation === null || !(await hastenProvision(tx, draft.installation.id))) {
          throw conflict([], 'the draft is installed, and asks for nothing new')
        }
        return accepted(draftBody(await findDraft(tx, id)))
      })
      wake()
      return reply
    },
  })

/** Throws `conflict` when uninstallations pile up which the app does not acknowledge. The draft is locked. */
async function refuseManyCalls(tx: Transaction, appId: string): Promise<void> {
  const [{ count }] = await tx<[{ count: number }]>`
    select count(*) from call where workspace_id = ${tx.context.workspaceId} and app_id = ${appId}`
  if (count < MOST_CALLS) return
  const message = `${count} calls to the app wait; it has to acknowledge its uninstallations first`
  throw conflict([], message, 'limit_reached')
}
