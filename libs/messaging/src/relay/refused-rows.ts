import type { AnySql } from '@backoffice/postgres/database.ts'
import type { Sql } from 'postgres'
import type { OutboxRow } from './outbox-rows.ts'

/**
 * How long a row waits for its schema before it is refused, in milliseconds. The schema comes with a deploy, which may
 * take a while.
 */
export const HOLD_FOR_MS = 60 * 60_000
/** Rows that one statement lets the relay send. */
const BATCH_SIZE = 5000

/** A row whose record Kafka cannot have yet, with the reason. Without one it waits behind such a row of its key. */
export interface HeldRow {
  readonly row: OutboxRow
  readonly reason?: string
  /** What it waits for: the schema that its record fits, or its topic. */
  readonly waitsFor?: 'SCHEMA' | 'TOPIC'
}

/**
 * Holds rows: the relay tries them again, first after a second, later at most after a minute. With `mayRefuse`, a row
 * that waits for its schema and was held first an hour ago is refused instead. Returns how many are held, and how many
 * refused.
 */
export async function holdRows(
  sql: Sql,
  held: readonly HeldRow[],
  mayRefuse: boolean,
): Promise<{ held: number; refused: number }> {
  const hasEnd = ({ waitsFor }: HeldRow) => mayRefuse && waitsFor === 'SCHEMA'
  const rows = held.map((one) => ({ id: one.row.id, reason: one.reason, has_end: hasEnd(one) }))
  const [counts] = await sql<[{ held: number; refused: number }]>`
    with given as (
      select id, reason, has_end
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as (id bigint, reason text, has_end boolean)
    ), marked as (
      update outbox set
        refused = coalesce(reason, 'an earlier record of its key waits'),
        held_since = coalesce(held_since, clock_timestamp()),
        retry_at = case when not has_end or held_since is null or held_since > clock_timestamp() - make_interval(secs => ${HOLD_FOR_MS / 1000}) then
          clock_timestamp() + greatest('1 second', least('1 minute', coalesce((clock_timestamp() - held_since) / 2, '0')))
        end
      from given where outbox.id = given.id
      returning retry_at
    )
    select count(retry_at)::integer as held, count(*) filter (where retry_at is null)::integer as refused from marked`
  return counts
}

/** Sets aside a row that Kafka never takes. It stays, with the reason, until an operator resends or deletes it. */
export const refuseRow = (sql: Sql, row: OutboxRow, reason: string) => sql`
  update outbox set refused = ${reason} where id = ${row.id}`

/**
 * Lets the relay try a batch of held rows that are due, and returns their number: a statement for all those of a large
 * import would take too long. `now()` is stable, so an index serves. What waits for over two minutes is due too: it is
 * of a time when the clock was ahead (OP-302).
 */
export async function releaseHeldRows(sql: AnySql): Promise<number> {
  const { count } = await sql`
    update outbox set refused = null, retry_at = null where id = any(array(
      select id from outbox where retry_at <= now() or retry_at > now() + interval '2 minutes'
      order by retry_at limit ${BATCH_SIZE}
    ))`
  return count
}

/** Reads refused and held rows, oldest first, from behind an id; not their payloads, which may have personal data. */
export const refusedRows = (sql: AnySql, { after = '0', limit }: { after?: string | undefined; limit: number }) => sql`
  select id::text as id, occurred_at as at, topic, type, key, workspace_id as workspace, retry_at, overtaken,
    refused as reason
  from outbox where refused is not null and id > ${after}
  order by id limit ${limit}`

/**
 * Lets the relay send refused rows again: those with these ids or, without ids, all that no later record of their key
 * has overtaken. An overtaken state would replace the newer one. Returns their number.
 */
export async function resendRefused(sql: AnySql, ids: readonly string[]): Promise<number> {
  const chosen = ids.length > 0 ? sql`id = any(${[...ids]}::bigint[])` : sql`not overtaken`
  let resent = 0
  for (let after: string | null = '0'; after !== null; ) {
    const [batch]: [{ rows: number; last: string | null }] = await sql`
      with batch as (
        select id from outbox where refused is not null and ${chosen} and id > ${after} order by id limit ${BATCH_SIZE}
      ), resent as (
        update outbox set refused = null, retry_at = null, held_since = null
        where id in (select id from batch) and refused is not null
        returning id
      )
      select (select count(*) from resent)::integer as rows, (select max(id) from batch)::text as last`
    resent += batch.rows
    after = batch.last
  }
  return resent
}
