import type { Sql, Transaction } from '@backoffice/postgres/database.ts'
import { type ClaimedCall, LEASE } from './claim-calls.ts'

/** Renews the claims of the attempts under way; `worker` works across workspaces. */
export async function renewClaims(worker: Sql, calls: readonly ClaimedCall[]): Promise<void> {
  if (calls.length === 0) return
  await worker`
    update call set claimed_until = clock_timestamp() + ${LEASE}::interval
    where (workspace_id, installation_id, claim) in (
      select * from unnest(
        ${calls.map(({ context }) => context.workspaceId)}::uuid[],
        ${calls.map(({ installationId }) => installationId)}::uuid[],
        ${calls.map(({ claim }) => claim)}::uuid[]
      )
    )`
}

/**
 * Throws unless the claim still holds and the call is still the same: an attempt that was late would deliver a key that
 * has been revoked since, or tell the app of an uninstallation after it was installed again.
 */
export async function refuseLostClaim(tx: Transaction, { installationId, kind, claim }: ClaimedCall): Promise<void> {
  const renewed = await tx`
    update call set claimed_until = clock_timestamp() + ${LEASE}::interval
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId}
      and claim = ${claim} and kind = ${kind}`
  if (renewed.count === 0) throw new Error('the call was taken over or changed while its attempt was under way')
}

/**
 * Gives a claim back; the call is due again after the delay, in milliseconds, and at the latest when it expires. A
 * provision that has become an uninstall meanwhile is due at once. Returns false then, and when the claim has been
 * lost.
 */
export async function releaseCall(
  tx: Transaction,
  { installationId, claim, kind }: ClaimedCall,
  delayMs: number,
): Promise<boolean> {
  const [released] = await tx<{ isSame: boolean }[]>`
    update call set
      claim = null, claimed_until = null,
      due_at = case when kind = ${kind} then least(
        clock_timestamp() + ${delayMs} * interval '1 millisecond',
        greatest(expires_at, clock_timestamp() + interval '1 minute')
      ) else clock_timestamp() end
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId} and claim = ${claim}
    returning kind = ${kind} as "isSame"`
  return released?.isSame === true
}

/** Deletes the call; false when another attempt has claimed it, or it has become an uninstall. */
export async function endCall(tx: Transaction, { installationId, claim, kind }: ClaimedCall): Promise<boolean> {
  const ended = await tx`
    delete from call
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId}
      and claim = ${claim} and kind = ${kind}`
  return ended.count === 1
}
