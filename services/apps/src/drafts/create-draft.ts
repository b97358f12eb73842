import { AppDraft } from '@backoffice/contracts/app.ts'
import { ApiError, conflict } from '@backoffice/contracts/errors.ts'
import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetOrigin } from '@backoffice/outbound/target-url.ts'
import type { Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { keyHolder } from '../apps/record-act.ts'
import { insertApp } from '../apps/write-app.ts'
import { DraftManifest, draftBody, draftPrefix, findDraft, manifestOfDraft, refuseApps } from './draft.ts'
import type { OwnWorkspace } from './own-workspaces.ts'

/** The most drafts of a sandbox, those that are being deleted too. */
const MOST_DRAFTS = 10

interface Registering {
  readonly policy: TargetPolicy
  readonly resolve: Resolve
  workspaceOf(context: WorkspaceContext): Promise<OwnWorkspace>
}

/** POST /v1/sandbox/apps (extension): registers a draft of an app, for the sandbox of the key alone (OP-286). */
export const createDraft = ({ policy, resolve, workspaceOf }: Registering) =>
  operation({
    method: 'POST',
    path: '/v1/sandbox/apps',
    operationId: 'createAppDraft',
    summary: 'Register a draft of an app in the sandbox',
    scope: 'app::create',
    body: named('AppDraftInput', z.strictObject({ origin: targetOrigin(policy), manifest: DraftManifest }), {
      origin: 'https://pay.example.com',
      manifest: { provider: 'acme-pay', scopes: ['sale::create'], embed: '/embed', checkout: { path: '/checkout' } },
    }),
    responses: { 201: AppDraft },
    openPoints: ['OP-08', 'OP-80', 'OP-153', 'OP-225', 'OP-286'],
    extension: true,

    async handle({ body: { origin, manifest: sent }, context, now, inWorkspace, storedAnswer }) {
      refuseLive(context.livemode)
      refuseApps(context)
      const stored = await storedAnswer()
      if (stored) return stored
      await refuseForbiddenTarget({ url: new URL(origin), path: ['origin'] }, policy, resolve)
      const manifest = manifestOfDraft(draftPrefix((await workspaceOf(context)).live_workspace), sent)
      return inWorkspace(async (tx) => {
        await takePlace(tx, manifest.provider)
        const { id } = await insertApp(tx, { origin, manifest }, tx.context.workspaceId, keyHolder(context), now)
        return created(draftBody(await findDraft(tx, id)))
      })
    },
  })

function refuseLive(livemode: boolean): void {
  if (!livemode) return
  const message = 'Drafts of apps are for sandboxes: use a key of the sandbox, which begins with sk_test_'
  throw new ApiError('insufficient_scope', message, { errorReason: 'sandbox_only' })
}

/** Locks the drafts of the sandbox for one more. Throws `conflict` when it has this one, or as many as it may. */
async function takePlace(tx: Transaction, provider: string): Promise<void> {
  const { workspaceId } = tx.context
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${workspaceId} drafts`}, 0))`
  const drafts = await tx<{ id: string; provider: string; isDeleted: boolean }[]>`
    select id, provider, deleted_at is not null as "isDeleted" from app where sandbox_id = ${workspaceId}`
  const same = drafts.find((draft) => draft.provider === provider)
  if (same !== undefined) {
    const message = same.isDeleted
      ? `${provider} is being deleted; its name is free once the app has heard of its uninstallation`
      : `${provider} is there already; change it with PUT /v1/sandbox/apps/${same.id}`
    throw conflict(['manifest', 'provider'], message, 'name_taken')
  }
  if (drafts.length < MOST_DRAFTS) return
  throw conflict([], `the sandbox has ${MOST_DRAFTS} drafts, and may have no more; delete one first`, 'limit_reached')
}
