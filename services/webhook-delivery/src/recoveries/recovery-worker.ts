import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { workspacesInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import { restAfter } from '@backoffice/runtime/give-way.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { notifyDue } from '../shards/notify-due.ts'

const NAME = 'recoveries'
/** The pause while no recovery has its turn. */
const LOOK_EVERY_MS = 500
/** Deliveries of one recovery made due at once, about once a second: few, so that fresh events still come first. */
const BATCH_SIZE = 100
/** Failed deliveries that a step looks at for those of some event types. */
const LOOKED_AT = 5000
/** A first attempt that is due for longer waits; others may be in flight. */
const IN_FLIGHT_SECONDS = 5

/**
 * Runs recoveries: workspaces in turn, a step of one recovery at a time, in a transaction of its own. Rests as long as
 * each step took, so it uses half of one connection at most. Replicas share the recoveries; `sql` has the worker role.
 */
export function recoveryWorker(sql: Sql, logger: Logger) {
  const nextWorkspace = workspacesInTurn<{ workspaceId: string }>(
    sql,
    () => sql`
      select workspace_id as "workspaceId" from recovery where status = 'RUNNING' and next_step_at <= now()`,
  )
  let hasWorked = false
  const loop = worker({
    name: NAME,
    everyMs: LOOK_EVERY_MS,
    logger,
    work: async () => {
      const startedAt = performance.now()
      const next = await nextWorkspace()
      if (next === undefined) {
        const pauseMs = hasWorked ? 0 : undefined
        hasWorked = false
        return pauseMs
      }
      if (await stepIn(sql, logger, next.workspaceId)) {
        hasWorked = true
        // The next step is due in a second, also in a process that handles nothing else.
        loop.rouse()
      }
      return restAfter(startedAt)
    },
  })
  return loop
}

interface OpenRecovery {
  readonly workspaceId: string
  readonly endpointId: string
  readonly until: Date
  /** Null: all. */
  readonly eventTypes: string[] | null
  readonly afterId: string
}

/**
 * A step of the recovery of the workspace that has waited longest. Returns false when another replica is at it, or it
 * failed: that is logged, and tried again.
 */
async function stepIn(sql: Sql, logger: Logger, workspaceId: string): Promise<boolean> {
  let recovery: OpenRecovery | undefined
  try {
    return await inTransaction(sql, async (tx) => {
      recovery = await takeNext(tx, workspaceId)
      if (recovery === undefined) return false
      if (!(await attemptsWait(tx, recovery))) await sendSomeAgain(tx, recovery)
      return true
    })
  } catch (error) {
    if (recovery === undefined) throw error
    noteFailure(logger, NAME, error, { workspace_id: workspaceId, endpoint_id: recovery.endpointId })
    // Otherwise it would be next again, and the other recoveries of its workspace would have no turn.
    await sql`
      update recovery set next_step_at = now() + interval '1 minute'
      where workspace_id = ${workspaceId} and endpoint_id = ${recovery.endpointId}`
    return false
  }
}

async function takeNext(tx: AnySql, workspaceId: string): Promise<OpenRecovery | undefined> {
  const [recovery] = await tx<OpenRecovery[]>`
    update recovery set next_step_at = now() + interval '1 second'
    where workspace_id = ${workspaceId} and endpoint_id = (
      select endpoint_id from recovery
      where workspace_id = ${workspaceId} and status = 'RUNNING' and next_step_at <= now()
      order by next_step_at limit 1 for update skip locked
    )
    returning workspace_id as "workspaceId", endpoint_id as "endpointId", until, after_id as "afterId",
      event_types as "eventTypes"`
  return recovery
}

/**
 * Whether repeats of the endpoint are due, or first attempts since some time: a busy endpoint always has first attempts
 * in flight, which stay due until they are recorded. By rows as in `readDue`, for the index `delivery_due`.
 */
async function attemptsWait(tx: AnySql, { endpointId }: OpenRecovery): Promise<boolean> {
  const waiting = await tx`
    select from (
      values (true, now()), (false, now() - ${IN_FLIGHT_SECONDS}::integer * interval '1 second')
    ) as waiting (is_repeat, since) cross join lateral (
      select from delivery
      where due_at is not null and claimed_by is null
        and (endpoint_id, (attempts_made > 0), due_at) >= (${endpointId}, is_repeat, '-infinity')
        and (endpoint_id, (attempts_made > 0), due_at) <= (${endpointId}, is_repeat, since)
      order by endpoint_id, (attempts_made > 0), due_at limit 1
    ) as first
    limit 1`
  return waiting.length > 0
}

/** Makes the next failed deliveries due. A step that finds fewer than it looks for has found the last ones. */
async function sendSomeAgain(tx: AnySql, recovery: OpenRecovery): Promise<void> {
  const { workspaceId, endpointId, until, eventTypes, afterId } = recovery
  const lookedAt = eventTypes === null ? BATCH_SIZE : LOOKED_AT
  await tx`
    with failed as materialized (
      select id, event_id, event_type from delivery
      where workspace_id = ${workspaceId} and endpoint_id = ${endpointId} and status = 'FAILED'
        and id > ${afterId} and id < least_id(${until})
      order by id limit ${lookedAt}
    ), chosen as materialized (
      select id, event_id from failed
      where ${eventTypes}::text[] is null or event_type = any(${eventTypes}::text[])
      order by id limit ${BATCH_SIZE}
    ), sent as (
      update delivery set resend_at = now() from chosen
      where delivery.workspace_id = ${workspaceId} and delivery.endpoint_id = ${endpointId} and delivery.id = chosen.id
        and delivery.event_id = chosen.event_id and delivery.status = 'FAILED'
      returning delivery.id
    ), step as (
      select is_last, case
        when chosen = ${BATCH_SIZE}::integer then (select id from chosen order by id desc limit 1)
        else (select id from failed order by id desc limit 1)
      end as last_id
      from (
        select (select count(*) from chosen) as chosen
      ) as found cross join lateral (
        select chosen < ${BATCH_SIZE}::integer and (select count(*) from failed) < ${lookedAt}::integer as is_last
      ) as judged
    )
    update recovery set
      sent_again = sent_again + (select count(*) from sent),
      after_id = coalesce(last_id, after_id),
      status = case when is_last then 'COMPLETED' else 'RUNNING' end,
      ended_at = case when is_last then now() end
    from step where workspace_id = ${workspaceId} and endpoint_id = ${endpointId}`
  await notifyDue(tx, [endpointId])
}
