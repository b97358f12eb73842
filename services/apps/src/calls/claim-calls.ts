import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import type { Database, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { Databases } from '../installation-rows/find-installation.ts'

/** The lease of a claim that is not renewed. After it another replica takes the calls of one that died. */
export const LEASE = '10 seconds'

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
  readonly attempts: number
  readonly isExpired: boolean
  readonly claim: string
}

/** The most calls under way to one app, so that a slow app does not take all slots of a replica. */
const PER_APP = 4

interface DueCall {
  readonly workspace_id: string
  readonly installation_id: string
  readonly livemode: boolean
  /** Of the request that has caused it; null for one of an older version. */
  readonly traceparent: string | null
}

/** How many calls a replica can take on. */
interface FreeSlots {
  readonly calls: number
  /** How many of them may be repeated ones. */
  readonly retries: number
}

/**
 * Claims calls that are due, as many as there are free slots. First come those that end the access of an uninstalled
 * app, since these do not call the app. Then the apps come round robin, each with at most PER_APP calls under way. The
 * calls of one app in one workspace keep their order: it hears of its uninstallation before it is installed again. Uses
 * `now()`, since an index cannot search for a volatile time.
 */
export async function claimCalls({ db, worker }: Databases, free: FreeSlots): Promise<ClaimedCall[]> {
  const due = await worker.sql<DueCall[]>`
    select due.workspace_id, due.installation_id, installation.livemode, due.traceparent
    from (
      select *, row_number() over (partition by attempts > 0 order by nth, due_at) as place
      from (
        (
          select workspace_id, installation_id, traceparent, attempts, due_at, 0 as nth
          from call
          where kind = 'uninstall' and access_ended_at is null
            and due_at <= now() and coalesce(claimed_until <= now(), true)
          order by due_at
          limit ${free.calls}
        )
        union all
        select next.*
        from app
        cross join lateral (
          select
            workspace_id, installation_id, traceparent, attempts, due_at, row_number() over (order by due_at) as nth
          from call
          where app_id = app.id and (kind = 'provision' or access_ended_at is not null)
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
      ) candidate
    ) due
    join installation on installation.workspace_id = due.workspace_id and installation.id = due.installation_id
    where due.attempts = 0 or due.place <= ${free.retries}
    order by nth, due.due_at
    limit ${free.calls}`
  const claimed = await Promise.all(
    due.map((row) => {
      const { workspace_id: workspaceId, livemode } = row
      const context = {
        workspaceId,
        livemode,
        traceparent: traceparentFrom(row.traceparent ?? undefined),
        actor: 'apps',
      }
      return claimCall(db, context, row.installation_id)
    }),
  )
  return claimed.filter((call) => call !== undefined)
}

/** Claims one call; undefined when another replica was faster. */
function claimCall(db: Database, context: WorkspaceContext, installationId: string): Promise<ClaimedCall | undefined> {
  return db.inWorkspace(context, async (tx) => {
    const [call] = await tx<Omit<ClaimedCall, 'context'>[]>`
      update call set claim = uuidv7(), claimed_until = clock_timestamp() + ${LEASE}::interval, attempts = attempts + 1
      where workspace_id = ${context.workspaceId} and installation_id = ${installationId}
        and due_at <= clock_timestamp() and coalesce(claimed_until <= clock_timestamp(), true)
      returning
        installation_id as "installationId", app_id as "appId", kind, manifest, key_id as "keyId", key_secret as "keySecret",
        endpoint_id as "endpointId", webhook_secret as "webhookSecret", sealed_with as "sealedWith",
        former_key_id as "formerKeyId", former_endpoint_id as "formerEndpointId", reason,
        access_ended_at is not null as "isAccessEnded", attempts, expires_at <= clock_timestamp() as "isExpired", claim`
    return call && { ...call, context }
  })
}
