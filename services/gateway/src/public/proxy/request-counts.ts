import { KEPT_DAYS } from '@backoffice/contracts/usage.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { expireRows } from '@backoffice/postgres/expire-rows.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'

const WRITE_EVERY_MS = 10_000
const EXPIRE_EVERY_MS = 3_600_000
const BATCH_SIZE = 1000

/** The requests of a workspace on a day, and those of them that were answered 429. */
interface Counts {
  readonly workspaceId: string
  readonly day: string
  requests: number
  rateLimited: number
}

export interface RequestCounts extends Component {
  /** Counts a request, in memory. */
  note(workspaceId: string, at: Date, status: number): void
  /** Adds what was counted to the table, with one statement; sends none when there is nothing. */
  write(): Promise<void>
}

/**
 * Counts requests by workspace and day of UTC. Every 10 s, and at the stop, the counts are added to the table: a
 * process that is killed loses what it has counted since (OP-272). `db` is of the worker role.
 */
export function requestCounts(db: Database, logger: Logger): RequestCounts {
  let counted = new Map<string, Counts>()

  function add({ workspaceId, day, requests, rateLimited }: Counts): void {
    const key = `${workspaceId} ${day}`
    const counts = counted.get(key) ?? { workspaceId, day, requests: 0, rateLimited: 0 }
    counts.requests += requests
    counts.rateLimited += rateLimited
    counted.set(key, counts)
  }

  async function write(): Promise<void> {
    if (counted.size === 0) return
    const written = [...counted.values()]
    counted = new Map()
    try {
      await addCounts(db, written)
    } catch (error) {
      for (const counts of written) add(counts)
      throw error
    }
  }

  const writer = worker({ name: 'request counts', everyMs: WRITE_EVERY_MS, logger, work: write })
  return {
    ...writer,
    async stop() {
      await writer.stop()
      await write()
    },
    note(workspaceId, at, status) {
      const day = at.toISOString().slice(0, 10)
      add({ workspaceId, day, requests: 1, rateLimited: status === 429 ? 1 : 0 })
    },
    write,
  }
}

/** Rows are locked in one order, so that replicas do not deadlock. Those of a deleted workspace stay away. */
async function addCounts({ sql }: Database, counts: readonly Counts[]): Promise<void> {
  await sql`
    insert into daily_requests as known (workspace_id, day, requests, rate_limited)
    select workspace.id, day, requests, "rateLimited"
    from json_to_recordset(${JSON.stringify(counts)}::text::json)
      as counted ("workspaceId" uuid, day date, requests bigint, "rateLimited" bigint)
    join workspace on workspace.id = counted."workspaceId" and workspace.deleted_at is null
    order by workspace.id, day
    on conflict (workspace_id, day) do update set
      requests = known.requests + excluded.requests, rate_limited = known.rate_limited + excluded.rate_limited`
}

/** Deletes the counts of days that are over. `db` is of the worker role. */
export const expireCounts = (db: Database, logger: Logger) =>
  expireRows(db, logger, {
    name: 'expired request counts',
    everyMs: EXPIRE_EVERY_MS,
    batchSize: BATCH_SIZE,
    deleteBatch: () => deleteExpired(db),
  })

/** Deletes a batch, and returns its number. */
async function deleteExpired({ sql }: Database): Promise<number> {
  const { count } = await sql`
    delete from daily_requests where ctid = any(array(
      select ctid from daily_requests where day <= (now() at time zone 'UTC')::date - ${KEPT_DAYS}::integer limit ${BATCH_SIZE}
    ))`
  return count
}
