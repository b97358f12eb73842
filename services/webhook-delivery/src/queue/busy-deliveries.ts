import type { Sql } from '@backoffice/postgres/database.ts'
import type { Job } from '../scheduling/job.ts'

type Key = Pick<Job, 'deliveryId' | 'eventId' | 'attemptsMade'> & {
  readonly target: Pick<Job['target'], 'id' | 'workspaceId'>
}

const keysOf = (sql: Sql, jobs: readonly Key[]) => sql`
  unnest(
    ${jobs.map(({ target }) => target.workspaceId)}::uuid[], ${jobs.map(({ target }) => target.id)}::uuid[],
    ${jobs.map(({ deliveryId }) => deliveryId)}::uuid[], ${jobs.map(({ eventId }) => eventId)}::uuid[],
    ${jobs.map(({ attemptsMade }) => attemptsMade)}::integer[]
  ) as job (workspace_id, endpoint_id, delivery_id, event_id, attempts_made)`

const isSame = (sql: Sql) => sql`
  delivery.workspace_id = job.workspace_id and delivery.endpoint_id = job.endpoint_id
  and delivery.id = job.delivery_id and delivery.event_id = job.event_id and delivery.attempts_made = job.attempts_made`

/**
 * Marks attempts that are in flight as busy for some seconds, or as not busy any more. The next owner of their shards
 * waits so long for their results. Skips those that are recorded.
 */
export async function markBusy(sql: Sql, jobs: readonly Key[], seconds: number): Promise<void> {
  if (jobs.length === 0) return
  await sql`
    update delivery set busy_until = clock_timestamp() + make_interval(secs => ${seconds})
    from ${keysOf(sql, jobs)} where ${isSame(sql)} and due_at is not null`
}

/** Which of some deliveries are still to be recorded, and whether one is marked as busy. */
export async function stillBusy(sql: Sql, jobs: readonly Key[]): Promise<ReadonlyMap<string, boolean>> {
  const rows = await sql<{ id: string; isBusy: boolean }[]>`
    select delivery.id, coalesce(busy_until > clock_timestamp(), false) as "isBusy"
    from ${keysOf(sql, jobs)} join delivery on ${isSame(sql)} where due_at is not null`
  return new Map(rows.map(({ id, isBusy }) => [id, isBusy]))
}

/** Ends deliveries without another attempt: their endpoint is deleted (OP-97). */
export async function endDeliveries(sql: Sql, jobs: readonly Key[]): Promise<void> {
  if (jobs.length === 0) return
  await sql`
    update delivery set
      status = case when status = 'PENDING' then 'FAILED' else status end, next_attempt_at = null, resend_at = null, busy_until = null
    from ${keysOf(sql, jobs)} where ${isSame(sql)}`
}
