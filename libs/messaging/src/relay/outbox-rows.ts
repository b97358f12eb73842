import type { AnySql } from '@backoffice/postgres/database.ts'
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
  /** JSON; null is a tombstone. */
  readonly payload: string | null
  /** The size of the payload as it is stored, compressed. */
  readonly bytes: number
  readonly traceparent: string
  readonly occurred_at: Date
  /** Whether a row of its topic and key with a smaller id is held. */
  readonly is_behind: boolean
}

/** Records that webhooks deliver, on `<service>.events`; or all others: states, batches of imports, their answers. */
export type RecordKind = 'EVENTS' | 'OTHERS'

/**
 * Settings that leave PostgreSQL only the indexes made for these statements, so that their plans can be cached. With
 * its outdated statistics it would choose another index and read all waiting rows.
 */
export const PLANS_BY_INDEX = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
}

/** What to read of the waiting rows. */
interface Wanted {
  readonly kind: RecordKind
  /** The workspace that was served last. */
  readonly after: string
  /** The most rows. */
  readonly rows: number
  /** Reading stops at so many bytes of stored payload. */
  readonly bytes: number
  /** Workspaces whose rows are not read. */
  readonly except?: readonly string[]
}

/** The workspaces that one statement looks at. */
const WORKSPACES = 64
/** The quantum of the round robin: bytes of stored payload of a workspace before the next one; at least a row. */
const QUANTUM_BYTES = 16 * 1024

/**
 * Waiting rows of one kind, the workspaces round robin, and those of a workspace by id, which is the order of the
 * commits of each aggregate. Always reads a workspace from its start, since a row with a smaller id can be committed
 * after a row with a larger id was published. There is at least one row if any waits.
 */
export const waitingRows = (sql: Sql, { kind, after, rows, bytes, except = [] }: Wanted) => {
  const waiting = sql`published_at is null and refused is null and topic ${kind === 'EVENTS' ? sql`like` : sql`not like`} '%.events'`
  return sql<OutboxRow[]>`
    with recursive oldest (workspace_id, id, position, from_start) as (
      select ${after}::uuid, null::bigint, 0, false
      union all
      -- The next workspace by its id; after the last one, those from the first on.
      select next.* from oldest cross join lateral (
        (
          select workspace_id, id, oldest.position + 1, oldest.from_start from outbox
          where ${waiting} and workspace_id > oldest.workspace_id
            and workspace_id <= case when oldest.from_start then ${after} else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid
          order by workspace_id, id limit 1
        ) union all (
          select workspace_id, id, oldest.position + 1, true from outbox
          where ${waiting} and workspace_id <= ${after}::uuid and not oldest.from_start
          order by workspace_id, id limit 1
        )
        order by from_start limit 1
      ) as next
      where oldest.position < ${WORKSPACES}
    ), wanted as (
      select workspace_id, id, position from oldest where id is not null and workspace_id <> all (${except}::uuid[])
    ), own as (
      select
        outbox.*, wanted.position, coalesce(pg_column_size(payload), 0) as bytes,
        sum(coalesce(pg_column_size(payload), 0)) over (partition by wanted.workspace_id order by outbox.id) as bytes_up_to
      from wanted cross join lateral (
        select * from outbox
        -- Not "=", with which another index would do for this order.
        where ${waiting} and (workspace_id, id) >= (wanted.workspace_id, wanted.id) and workspace_id <= wanted.workspace_id
        order by workspace_id, id limit (select ceil(${rows}::float8 / greatest(count(*), 1))::integer from wanted)
      ) as outbox
    ), in_quanta as (
      select own.*, (bytes_up_to - bytes)::bigint / ${QUANTUM_BYTES} as quantum from own
    ), counted as (
      select in_quanta.*, sum(bytes) over (order by quantum, position, id rows between unbounded preceding and current row) as bytes_in_all
      from in_quanta
    )
    select
      id, event_id, topic, key, type, workspace_id, livemode, payload::text as payload, bytes, traceparent, occurred_at,
      exists (
        select from outbox as held
        where held.refused is not null and held.retry_at is not null
          and held.topic = counted.topic and held.key = counted.key and held.id < counted.id
      ) as is_behind
    from counted
    where bytes_in_all - bytes < ${bytes}
    order by quantum, position, id
    limit ${rows}`
}

/**
 * Marks rows as published. Refused rows of the same key with smaller ids are overtaken. A server that takes over
 * without the last commits gives their ids to other rows: those have other events, and stay.
 */
export const markPublished = (sql: Sql, rows: readonly Pick<OutboxRow, 'id' | 'event_id'>[]) => sql`
  with published as (
    update outbox set published_at = now()
    where id = any(${rows.map(({ id }) => id)}::bigint[]) and event_id = any(${rows.map(({ event_id }) => event_id)}::uuid[])
    returning id, topic, key
  )
  update outbox set overtaken = true
  from published
  where outbox.refused is not null and outbox.topic = published.topic and outbox.key = published.key and outbox.id < published.id`

/**
 * The rows of the outbox that are not published, each number counted up to ten thousand: `held` rows wait for a schema
 * or a topic, `refused` ones for an operator. `seconds` is the age of the oldest row of those `waiting` to be sent.
 */
export async function backlog(sql: AnySql) {
  const [found] = await sql<[Record<'waiting' | 'seconds' | 'held' | 'refused', number>]>`
    select
      (select count(*) from (
        select from outbox where published_at is null and refused is null limit 10000
      ) as waiting)::integer as waiting,
      coalesce((
        select extract(epoch from now() - occurred_at) from outbox
        where published_at is null and refused is null order by id limit 1
      ), 0)::float8 as seconds,
      (select count(*) from (select from outbox where retry_at is not null limit 10000) as held)::integer as held,
      (select count(*) from (
        select from outbox where refused is not null and retry_at is null limit 10000
      ) as refused)::integer as refused`
  return found
}

/** The workspaces with the most rows that wait to be sent, of the first ten thousand such rows. */
export const waitingByWorkspace = (sql: AnySql) => sql<{ workspace: string; rows: number }[]>`
  select workspace_id as workspace, count(*)::integer as rows
  from (select workspace_id from outbox where published_at is null and refused is null limit 10000) as waiting
  group by workspace_id order by rows desc, workspace_id limit 10`

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
