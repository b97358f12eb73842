import { AppDraft } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetOrigin } from '@backoffice/outbound/target-url.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { keyHolder } from '../apps/record-act.ts'
import { updateManifest } from '../apps/write-app.ts'
import {
  DraftManifest,
  draftBody,
  findDraft,
  lockDraft,
  manifestOfDraft,
  prefixOf,
  refuseApps,
  refuseBeyond,
} from './draft.ts'

/** PUT /v1/sandbox/apps/{id} (extension): replaces the manifest of a draft, as an operator does an app's (OP-286). */
export const updateDraft = (policy: TargetPolicy, resolve: Resolve) =>
  operation({
    method: 'PUT',
    path: '/v1/sandbox/apps/{id}',
    operationId: 'updateAppDraft',
    summary: 'Give a draft of an app another manifest',
    scope: 'app::update',
    body: named(
      'AppDraftUpdate',
      z.strictObject({ origin: targetOrigin(policy).optional(), manifest: DraftManifest }),
      {
        manifest: { provider: 'acme-pay', scopes: ['sale'], embed: '/embed' },
      },
    ),
    takesIfMatch: true,
    responses: { 200: AppDraft },
    openPoints: ['OP-80', 'OP-153', 'OP-266', 'OP-286'],
    extension: true,

    async handle({ params: { id }, body: { origin, manifest }, context, now, inWorkspace, requireMatch }) {
      refuseApps(context)
      if (origin !== undefined) await refuseForbiddenTarget({ url: new URL(origin), path: ['origin'] }, policy, resolve)
      return inWorkspace(async (tx) => {
        const draft = await lockDraft(tx, id)
        requireMatch?.(draftBody(draft))
        // What the app has, or waits for, goes to the new origin.
        if (origin !== undefined && origin !== draft.origin)
          for (const consented of await manifestsInForce(tx, id)) refuseBeyond(consented, context.scopes)
        const change = { origin, manifest: manifestOfDraft(prefixOf(draft), manifest) }
        await updateManifest(tx, draft, change, keyHolder(context), now)
        return ok(draftBody(await findDraft(tx, id)))
      })
    },
  })

/** What was consented to in the installation of a locked draft, and in its provision under way. */
async function manifestsInForce(tx: Transaction, appId: string): Promise<AppManifest[]> {
  const { workspaceId } = tx.context
  const found = await tx<{ manifest: AppManifest }[]>`
    select manifest from installation
    where workspace_id = ${workspaceId} and app_id = ${appId} and state in ('PENDING', 'ACTIVE') and manifest is not null
    union all
    select manifest from call where workspace_id = ${workspaceId} and app_id = ${appId} and kind = 'provision'`
  return found.map(({ manifest }) => manifest)
}
