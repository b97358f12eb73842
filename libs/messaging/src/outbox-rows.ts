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

/** How many rows are taken at once, and after how many bytes of payload, as it is stored, a batch ends early. */
const BATCH_ROWS = 200
const BATCH_BYTES = 1024 * 1024

/**
 * The oldest rows that wait, by id, which per aggregate is the order of the commits. Always from the start and never from
 * where the last batch ended: a row with a smaller id can be committed after one with a larger id was published.
 */
export const waitingRows = (sql: Sql) => sql<OutboxRow[]>`
  select id, event_id, topic, key, type, workspace_id, livemode, payload, traceparent, occurred_at
  from (
    select *, sum(coalesce(pg_column_size(payload), 0)) over (
      order by id rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (select * from outbox where published_at is null and refused is null order by id limit ${BATCH_ROWS}) oldest
  ) counted
  where coalesce(bytes_before, 0) < ${BATCH_BYTES}
  order by id`

export const markPublished = (sql: Sql, rows: readonly OutboxRow[]) => sql`
  update outbox set published_at = now() where id = any(${rows.map(({ id }) => id)}::bigint[])`

/** Sets a row aside that can never be sent. It stays, with its reason, until an operator clears it or deletes it. */
export const markRefused = (sql: Sql, row: OutboxRow, reason: string) => sql`
  update outbox set refused = ${reason} where id = ${row.id}`

export interface Backlog {
  /** Rows that wait, counted up to ten thousand. */
  readonly rows: number
  /** Age of the oldest of them. */
  readonly seconds: number
}

/** What waits to be published. */
export async function backlog(sql: Sql): Promise<Backlog> {
  const [found] = await sql<[Backlog]>`
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

const DELETED_AT_ONCE = 1000

/** Deletes rows that were published more than `keepMs` ago, some at a time. Returns whether there may be more. */
export async function deletePublished(sql: Sql, keepMs: number): Promise<boolean> {
  const deleted = await sql`
    delete from outbox where id = any(array(
      select id from outbox
      where published_at < now() - ${keepMs} * interval '1 millisecond'
      order by published_at limit ${DELETED_AT_ONCE}
    ))`
  return deleted.count === DELETED_AT_ONCE
}
