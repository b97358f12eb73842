import type { Sql } from 'postgres'

/** A row of the outbox; see libs/postgres/migrations/0002_outbox.sql. */
export interface OutboxRow {
  readonly id: string
  readonly event_id: string
  readonly topic: string
  readonly key: string
  readonly type: string
  readonly workspace_id: string
  readonly livemode: boolean
  /** Null is a tombstone. */
  readonly payload: unknown
  readonly traceparent: string
  readonly occurred_at: Date
}

const BATCH_SIZE = 500
/** A batch ends early after so many bytes of stored payload. */
const BATCH_BYTES = 256 * 1024

/**
 * The oldest waiting rows by id, which is the order of the commits of each aggregate. Always reads from the start,
 * since a row with a smaller id can be committed after a row with a larger id was published.
 */
export const waitingRows = (sql: Sql) => sql<OutboxRow[]>`
  select id, event_id, topic, key, type, workspace_id, livemode, payload, traceparent, occurred_at
  from (
    select *, sum(coalesce(pg_column_size(payload), 0)) over (
      order by id rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (select * from outbox where published_at is null and refused is null order by id limit ${BATCH_SIZE}) oldest
  ) counted
  where coalesce(bytes_before, 0) < ${BATCH_BYTES}
  order by id`

export const markPublished = (sql: Sql, rows: readonly OutboxRow[]) => sql`
  update outbox set published_at = now() where id = any(${rows.map(({ id }) => id)}::bigint[])`

/** Sets aside a row that can never be sent. It stays, with the reason, until an operator clears or deletes it. */
export const markRefused = (sql: Sql, row: OutboxRow, reason: string) => sql`
  update outbox set refused = ${reason} where id = ${row.id}`

/** The number of rows that wait to be published, counted up to ten thousand, and the age of the oldest. */
export async function backlog(sql: Sql): Promise<{ rows: number; seconds: number }> {
  const [found] = await sql<[{ rows: number; seconds: number }]>`
    select
      (select count(*) from (
        select from outbox where published_at is null and refused is null limit 10000
      ) waiting)::int as rows,
      coalesce((
        select extract(epoch from now() - occurred_at) from outbox
        where published_at is null and refused is null order by id limit 1
      ), 0)::float8 as seconds`
  return found
}

const DELETE_BATCH_SIZE = 1000

/** Deletes one batch of the rows that were published more than `keepMs` ago. Returns whether there may be more. */
export async function deletePublished(sql: Sql, keepMs: number): Promise<boolean> {
  const deleted = await sql`
    delete from outbox where id = any(array(
      select id from outbox
      where published_at < now() - ${keepMs} * interval '1 millisecond'
      order by published_at limit ${DELETE_BATCH_SIZE}
    ))`
  return deleted.count === DELETE_BATCH_SIZE
}
