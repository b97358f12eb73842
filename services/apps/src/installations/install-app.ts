import { Installation } from '@backoffice/contracts/app.ts'
import { Provider } from '@backoffice/contracts/app-manifest.ts'
import { conflict, notFound, unprocessable } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import type { AppRow } from '../apps/app-row.ts'
import { findInstallation, installationBody } from '../apps/installation-rows.ts'
import { type Actor, recordAct } from '../apps/record-act.ts'

/**
 * POST /internal/installations, for POST /admin/v1/workspaces/{id}/installations: asks for the merchant's consent to
 * the app's manifest as it is now. For an installed app it asks again, when the manifest has changed since (OP-81).
 */
export const installApp = operation({
  method: 'POST',
  path: '/internal/installations',
  scope: 'internal',
  body: z.strictObject({
    provider: Provider,
    workspace: z.strictObject({ name: z.string(), domain: z.string().nullable() }),
  }),
  responses: { 201: Installation },

  handle: ({ body: { provider, workspace }, context, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      await refuseDeletedWorkspace(tx)
      const [app] = await tx<
        AppRow[]
      >`select * from app where provider = ${provider} and deleted_at is null for key share`
      if (app === undefined)
        throw unprocessable(['provider'], `there is no app ${provider}; register it first`, 'unknown_reference')
      const id = await requestInstallation(tx, app, workspace, context, now)
      if (id === undefined) throw conflict(['provider'], `${provider} is installed, and asks for nothing new`)
      return created(installationBody(await findInstallation(tx, id)))
    }),
})

/** A request that is under way meanwhile leaves a row, which a later pass of the deletion deletes (decision 025). */
async function refuseDeletedWorkspace(tx: Transaction): Promise<void> {
  const { workspaceId } = tx.context
  const deleted = await tx`select from deleted_workspace where workspace_id = ${workspaceId}`
  if (deleted.count > 0) throw notFound([], `Workspace ${workspaceId} does not exist`)
}

/**
 * Makes the installation, or puts the newest manifest before the merchant. Where the merchant has consented to that one
 * already, a question for another one ends; undefined when there is none. A repeated request changes nothing. Throws
 * `conflict` for an app that is suspended.
 */
export async function requestInstallation(
  tx: Transaction,
  { id: appId, manifest, suspended_at }: AppRow,
  workspace: { readonly name: string; readonly domain: string | null },
  actor: Actor,
  now: Date,
): Promise<string | undefined> {
  if (suspended_at !== null) throw conflict(['provider'], `the app ${manifest.provider} is suspended`)
  const { workspaceId, livemode } = tx.context
  // Waits for a consent under way: the next statement sees the call that it has added.
  await tx`
    select from installation
    where workspace_id = ${workspaceId} and app_id = ${appId} and state in ('PENDING', 'ACTIVE') for no key update`
  const [row] = await tx<{ id: string; isChanged: boolean }[]>`
    insert into installation (
      workspace_id, id, app_id, livemode, workspace_name, workspace_domain, state, requested_manifest, created_at
    )
    values (
      ${workspaceId}, ${newId()}, ${appId}, ${livemode}, ${workspace.name}, ${workspace.domain}, 'PENDING',
      ${tx.json(manifest)}, ${now}
    )
    on conflict (workspace_id, app_id) where state in ('PENDING', 'ACTIVE') do update set
      requested_manifest = case when ${isNew(tx)} then excluded.requested_manifest end,
      workspace_name = excluded.workspace_name, workspace_domain = excluded.workspace_domain
    where installation.requested_manifest is not null or ${isNew(tx)}
    returning id, old.requested_manifest is distinct from new.requested_manifest as "isChanged"`
  if (row?.isChanged) await recordAct(tx, actor, 'installation.created', `installations/${row.id}`, now)
  return row?.id
}

/**
 * Whether the merchant has to consent to the newest manifest. The order of its scopes and events does not count. A
 * consent counts before the app acknowledges it.
 */
const isNew = (tx: Transaction) => tx`(
  select manifest is null or not (consented @> asked and asked @> consented)
  from
    (
      select coalesce((
        select call.manifest from call
        where call.workspace_id = installation.workspace_id and call.installation_id = installation.id
      ), installation.manifest)
    ) as newest (manifest),
    jsonb_build_object('scopes', newest.manifest -> 'scopes', 'webhooks', newest.manifest -> 'webhooks') as consented,
    jsonb_build_object(
      'scopes', excluded.requested_manifest -> 'scopes', 'webhooks', excluded.requested_manifest -> 'webhooks'
    ) as asked
)`
