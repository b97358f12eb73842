import { ApiError, conflict } from '@backoffice/contracts/errors.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { endpointsChanged } from './endpoint.ts'

/** An app has at most this part of what a workspace may have, beside the workspace's own (OP-231). */
const PART_OF_AN_APP = 25

/** The most endpoints of an app, where a workspace may have `mostEndpoints` beside those of apps. */
export const mostOfAnApp = (mostEndpoints: number) => Math.max(1, Math.floor(mostEndpoints / PART_OF_AN_APP))

type Keys = Pick<RequestContext, 'keyId' | 'appKeyId'>

/** The key that makes an endpoint; the app's, where it was rotated. */
export const madeBy = ({ keyId, appKeyId }: Keys): string => appKeyId ?? keyId

/**
 * Locks a workspace's set of endpoints for one more. Throws `invalid_api_key` when the key's app has been uninstalled,
 * and `conflict` when the workspace, or the app, has as many as it may (OP-121, OP-231).
 */
export async function takePlace(tx: Transaction, keys: Keys, mostEndpoints: number): Promise<void> {
  const { workspaceId } = tx.context
  // It locks a row: whoever creates another endpoint meanwhile counts this one, and an app's end deletes it.
  const changed = endpointsChanged(tx)
  const reading = tx<[{ provider: string | null; isEnded: boolean; count: number }]>`
    select provider, ended_at is not null as "isEnded", (
      select count(*) from endpoint
      left join app_key as its on its.workspace_id = endpoint.workspace_id and its.id = endpoint.made_by
      where endpoint.workspace_id = ${workspaceId} and its.installation_id is not distinct from app_installation.id
    ) as count
    from (select ${workspaceId}::uuid as workspace_id, ${madeBy(keys)}::text as key_id) as caller
    left join app_key on app_key.workspace_id = caller.workspace_id and app_key.id = key_id
    left join app_installation
      on app_installation.workspace_id = caller.workspace_id and app_installation.id = app_key.installation_id`
  const [, [{ provider, isEnded, count }]] = await Promise.all([changed, reading])
  if (isEnded) throw new ApiError('invalid_api_key', `The app ${provider} of this API key has been uninstalled`)
  const most = provider === null ? mostEndpoints : mostOfAnApp(mostEndpoints)
  if (count < most) return
  const owner = provider === null ? 'this workspace' : `the app ${provider}`
  throw conflict([], `${owner} has ${most} webhook endpoints, and may have no more; delete one first`, 'limit_reached')
}

/** An operation on an endpoint that an app's key may use for an endpoint of its own app only (OP-231). */
export const onOwnEndpoint = (declaration: AnyOperation): AnyOperation => ({
  ...declaration,
  ...(declaration.scope !== 'internal' && { openPoints: [...(declaration.openPoints ?? []), 'OP-231'] }),
  handle: ({ inWorkspace, ...input }) =>
    declaration.handle({
      ...input,
      inWorkspace: (work, limits) =>
        inWorkspace(async (tx) => {
          await refuseOthers(tx, (input as { params: { id: string } }).params.id, input.context)
          return work(tx)
        }, limits),
    }),
})

/** A condition on `endpoint`: a key of the workspace, or a service, may change all, an app's key those of its app. */
export function isOwn(tx: Transaction, keys: Keys): SqlPart {
  if (keys.appKeyId == null) return tx`true`
  const installationOf = (key: SqlPart) =>
    tx`(select installation_id from app_key where workspace_id = ${tx.context.workspaceId} and app_key.id = ${key})`
  return tx`(
    endpoint.made_by = ${keys.appKeyId} or ${installationOf(tx`${keys.appKeyId}`)} = ${installationOf(tx`endpoint.made_by`)}
  )`
}

/** Throws `insufficient_scope` when the caller is an app and the endpoint is not its own. */
async function refuseOthers(tx: Transaction, id: string, keys: Keys): Promise<void> {
  if (keys.appKeyId == null) return
  const foreign = await tx`
    select from endpoint
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and ${isOwn(tx, keys)} is not true`
  if (foreign.length === 0) return
  throw new ApiError(
    'insufficient_scope',
    "is not an endpoint of this app; an app's key changes those of its app only",
    { path: ['id'], errorReason: 'not_own_resource' },
  )
}
