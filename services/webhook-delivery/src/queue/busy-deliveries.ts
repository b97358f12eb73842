import type { Sql } from '@backoffice/postgres/database.ts'
import { inOrder, isGiven, isOpen } from '../results/given-deliveries.ts'
import type { Job } from '../scheduling/job.ts'

/** Where a delivery is found, as it was read. */
export type Key = Pick<Job, 'deliveryId' | 'eventId' | 'attemptsMade'> & {
  readonly target: Pick<Job['target'], 'id' | 'workspaceId'>
}

const keysOf = (sql: Sql, jobs: readonly Key[]) => sql`
  json_to_recordset(${JSON.stringify(inOrder(jobs.map(keyOf)))}::text::json) as job (
    workspace_id uuid, endpoint_id uuid, delivery_id uuid, event_id uuid, attempts_made integer
  )`

const keyOf = ({ target, deliveryId, eventId, attemptsMade }: Key) => ({
  workspace_id: target.workspaceId,
  endpoint_id: target.id,
  delivery_id: deliveryId,
  event_id: eventId,
  attempts_made: attemptsMade,
})

const isSame = (sql: Sql, jobs: readonly Key[]) => {
  const eventIds = jobs.map(({ eventId }) => eventId)
  return sql`${isGiven(sql, sql`job`, eventIds)} and delivery.attempts_made = job.attempts_made`
}

/**
 * Marks attempts that are in flight as busy for some seconds, or as not busy any more. The next owner of their shards
 * waits so long for their results. Skips those that are recorded.
 */
export async function markBusy(sql: Sql, jobs: readonly Key[], seconds: number): Promise<void> {
  if (jobs.length === 0) return
  await sql`
    update delivery set busy_until = clock_timestamp() + make_interval(secs => ${seconds})
    from ${keysOf(sql, jobs)} where ${isSame(sql, jobs)} and ${isOpen(sql)}`
}

/** Which of some deliveries are still to be recorded, and whether one is marked as busy. */
export async function stillBusy(sql: Sql, jobs: readonly Key[]): Promise<ReadonlyMap<string, boolean>> {
  const rows = await sql<{ id: string; isBusy: boolean }[]>`
    select delivery.id, coalesce(busy_until > clock_timestamp(), false) as "isBusy"
    from ${keysOf(sql, jobs)} join delivery on ${isSame(sql, jobs)} where ${isOpen(sql)}`
  return new Map(rows.map(({ id, isBusy }) => [id, isBusy]))
}

/** Ends deliveries without another attempt: their endpoint is deleted (OP-97). */
export async function endDeliveries(sql: Sql, jobs: readonly Key[]): Promise<void> {
  if (jobs.length === 0) return
  await sql`
    update delivery set
      status = case when status = 'PENDING' then 'FAILED' else status end, next_attempt_at = null, resend_at = null, busy_until = null
    from ${keysOf(sql, jobs)} where ${isSame(sql, jobs)} and ${isOpen(sql)}`
}
