import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import type { Database, Sql, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { Databases } from '../apps/installation-rows.ts'

/**
 * The lease of a claim that is not renewed, in milliseconds. After it another replica takes the calls of one that died.
 */
export const LEASE_MS = 10_000

/** A call to an app that this replica makes. */
export interface ClaimedCall {
  readonly context: WorkspaceContext
  readonly installationId: string
  readonly appId: string
  readonly kind: 'provision' | 'uninstall'
  readonly manifest: AppManifest | null
  readonly keyId: string | null
  readonly keySecret: Buffer | null
  readonly endpointId: string | null
  readonly webhookSecret: Buffer | null
  readonly sealedWith: string | null
  readonly formerKeyId: string | null
  readonly formerEndpointId: string | null
  readonly reason: string | null
  /** Of an uninstall: whether its key is revoked and its endpoint deleted. */
  readonly isAccessEnded: boolean
  /** Of a provision: where the app has acknowledged it last, in an attempt that then failed. */
  readonly acknowledgedOrigin: string | null
  readonly attempts: number
  /** Never of a provision that the app has acknowledged: the table's trigger sees to that. */
  readonly isExpired: boolean
  /** Of the attempt. Ending the access has none in the database: it may be done twice, also beside an attempt. */
  readonly claim: string
}

/** Whether the access of an uninstalled app is to be ended, before the app is told. */
export const endsAccess = ({ kind, isAccessEnded }: Pick<ClaimedCall, 'kind' | 'isAccessEnded'>): boolean =>
  kind === 'uninstall' && !isAccessEnded

/** The most calls under way to one app, so that a slow app does not take all slots of a replica. */
const PER_APP = 4

interface DueCall {
  readonly workspaceId: string
  readonly livemode: boolean
  readonly installationId: string
  /** Of the request that has caused it; null for one of an older version. */
  readonly traceparent: string | null
  readonly endsAccess: boolean
}

interface Claiming extends Databases {
  readonly logger: Logger
}

/** How many calls a replica can take on. */
interface FreeSlots {
  readonly calls: number
  /** How many of them may be repeated ones. */
  readonly retries: number
  /** How many of the repeated ones may end accesses. */
  readonly accesses: number
  /** How many of the repeated ones may call apps. */
  readonly appCalls: number
}

/**
 * Claims calls that are due, as many as there are free slots. First come those that end the access of an uninstalled
 * app, repeated ones last: they do not call the app, and wait for no attempt under way. Then the apps come round robin,
 * each with at most PER_APP calls under way. The calls of one app in one workspace keep their order: it hears of its
 * uninstallation before it is installed again. A suspended app is told of uninstallations alone (OP-228). A claim that
 * fails is logged, and holds up no other one. Uses `now()`, since an index cannot search for a volatile time.
 */
export async function claimCalls({ db, worker, logger }: Claiming, free: FreeSlots): Promise<ClaimedCall[]> {
  const due = await worker.sql<DueCall[]>`
    select
      due.workspace_id as "workspaceId", livemode, due.installation_id as "installationId", due.traceparent,
      nth = 0 as "endsAccess"
    from (
      select
        *, row_number() over (partition by attempts > 0 order by nth, due_at) as place,
        row_number() over (partition by attempts > 0, nth = 0 order by nth, due_at) as place_of_kind
      from (
        (
          select workspace_id, installation_id, traceparent, attempts, due_at, 0 as nth
          from call
          where kind = 'uninstall' and access_ended_at is null and access_due_at is null
          order by due_at
          limit ${free.calls}
        )
        union all
        (
          select workspace_id, installation_id, traceparent, attempts, access_due_at, 0 as nth
          from call
          where kind = 'uninstall' and access_ended_at is null and access_due_at <= now()
          order by access_due_at
          limit ${Math.max(0, Math.min(free.retries, free.accesses))}
        )
        union all
        select next.*
        from app
        cross join lateral (
          select
            workspace_id, installation_id, traceparent, attempts, due_at, row_number() over (order by due_at) as nth
          from call
          where app_id = app.id
            and case when kind = 'provision' then app.suspended_at is null else access_ended_at is not null end
            and due_at <= now() and coalesce(claimed_until <= now(), true)
            and not exists (
              select from call as earlier
              where earlier.workspace_id = call.workspace_id and earlier.app_id = call.app_id
                and earlier.created_at < call.created_at
            )
          order by due_at
          limit ${PER_APP} - least(${PER_APP}, (
            select count(*) from call
            where app_id = app.id and (kind = 'provision' or access_ended_at is not null)
              and claimed_until > now()
          ))
        ) next
        where app.id in (select app_id from call where due_at <= now())
      ) candidate
    ) due
    join installation on installation.workspace_id = due.workspace_id and installation.id = due.installation_id
    where due.attempts = 0 or due.place <= ${free.retries}
      and due.place_of_kind <= case nth when 0 then ${free.accesses} else ${free.appCalls} end::bigint
    order by nth, nth = 0 and due.attempts > 0, due.due_at
    limit ${free.calls}`
  const claims = await Promise.allSettled(
    due.map(({ installationId, traceparent, endsAccess, ...workspace }) => {
      const context = { ...workspace, traceparent: traceparentFrom(traceparent ?? undefined), actor: 'apps' }
      return (endsAccess ? claimAccess : claimCall)(db, context, installationId)
    }),
  )
  const failed = claims.filter((claim) => claim.status === 'rejected')
  if (failed.length > 0) logger.warn({ err: failed[0]?.reason, calls: failed.length }, 'calls could not be claimed')
  return claims.flatMap((claim) => (claim.status === 'fulfilled' && claim.value) || [])
}

/** Claims one call; undefined when another replica was faster. */
function claimCall(db: Database, context: WorkspaceContext, installationId: string): Promise<ClaimedCall | undefined> {
  return db.inWorkspace(context, async (tx) => {
    const [call] = await tx<Omit<ClaimedCall, 'context'>[]>`
      update call set claim = uuidv7(), claimed_until = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond', attempts = attempts + 1
      where ${isFree(tx, installationId)}
        and due_at <= clock_timestamp() and coalesce(claimed_until <= clock_timestamp(), true)
        and (kind = 'provision' or access_ended_at is not null)
      returning ${columns(tx)}, claim`
    return call && { ...call, context }
  })
}

/** Claims the end of an access: for the time of a lease no other replica sees it as due. */
function claimAccess(db: Database, context: WorkspaceContext, installationId: string) {
  return db.inWorkspace(context, async (tx) => {
    const [call] = await tx<Omit<ClaimedCall, 'context'>[]>`
      update call set access_due_at = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond', attempts = attempts + 1
      where ${isFree(tx, installationId)}
        and kind = 'uninstall' and access_ended_at is null and coalesce(access_due_at <= clock_timestamp(), true)
      returning ${columns(tx)}, uuidv7() as claim`
    return call && { ...call, context }
  })
}

/** Whether a row is this call, and no other transaction has locked it: the claims of others would wait with it. */
const isFree = (tx: Transaction, installationId: string) => tx`
  (workspace_id, installation_id) = (
    select workspace_id, installation_id from call
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId}
    for no key update skip locked
  )`

const columns = (tx: Transaction) => tx`
  installation_id as "installationId", app_id as "appId", kind, manifest, key_id as "keyId", key_secret as "keySecret",
  endpoint_id as "endpointId", webhook_secret as "webhookSecret", sealed_with as "sealedWith",
  former_key_id as "formerKeyId", former_endpoint_id as "formerEndpointId", reason,
  access_ended_at is not null as "isAccessEnded", acknowledged_origin as "acknowledgedOrigin", attempts, expires_at <= clock_timestamp() as "isExpired"`

/**
 * Renews the claims of the attempts under way; `worker` works across workspaces. One whose row another transaction has
 * locked is renewed by a later run, within its lease.
 */
export async function renewClaims(worker: Sql, calls: readonly ClaimedCall[]): Promise<void> {
  if (calls.length === 0) return
  await worker`
    update call set claimed_until = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
    where (workspace_id, installation_id) in (
      select workspace_id, installation_id from call
      where (workspace_id, installation_id, claim) in (
        select * from unnest(
          ${calls.map(({ context }) => context.workspaceId)}::uuid[],
          ${calls.map(({ installationId }) => installationId)}::uuid[],
          ${calls.map(({ claim }) => claim)}::uuid[]
        )
      )
      for no key update skip locked
    )`
}

/** The call was taken over or changed while its attempt was under way, as by an uninstallation. */
export class LostClaim extends Error {}

/**
 * Throws a LostClaim unless the claim still holds and the call is still the same: an attempt that was late would
 * deliver a key that has been revoked since, or tell the app of an uninstallation after it was installed again.
 */
export async function refuseLostClaim(tx: Transaction, { installationId, kind, claim }: ClaimedCall): Promise<void> {
  const renewed = await tx`
    update call set claimed_until = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId}
      and claim = ${claim} and kind = ${kind}`
  if (renewed.count === 0) throw new LostClaim('the call was taken over or changed while its attempt was under way')
}

/** Lets the access be ended after the delay, in milliseconds. Returns false when it has been ended meanwhile. */
export async function postponeAccess(tx: Transaction, call: ClaimedCall, delayMs: number): Promise<boolean> {
  const postponed = await tx`
    update call set access_due_at = clock_timestamp() + ${delayMs} * interval '1 millisecond'
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${call.installationId}
      and kind = 'uninstall' and access_ended_at is null`
  return postponed.count === 1
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
