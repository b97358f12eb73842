import type { AnsweredRequest } from '@backoffice/http/app.ts'
import { causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { expireRows } from '@backoffice/postgres/expire-rows.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { waitingRequests } from './waiting-requests.ts'

const lostRequests = counter('request_log_lost', 'Requests that the request log lacks, by why: room or refused')

/** How often requests are written. A process that dies loses so many seconds of them (OP-293). */
const EVERY_MS = 1000
/** Requests that wait in memory. */
const MAX_WAITING = 5000
/** Rows of one statement. */
const BATCH_SIZE = 1000
const MAX_PATH = 1000
const KEPT_DAYS = 7
const CLEANED_EVERY_MS = 60_000

type Logged = Readonly<Record<string, unknown>> & { readonly workspace_id: string }

/** What the log has of a request; undefined for one that is not under `/v1`, or whose key nobody knows. */
const rowOf = ({ line, errorReason }: AnsweredRequest, at: Date): Logged | undefined =>
  typeof line.workspace_id !== 'string' || !String(line.path).startsWith('/v1')
    ? undefined
    : {
        workspace_id: line.workspace_id,
        request_id: line.request_id,
        at,
        key_id: line.key_id,
        method: line.method,
        path: String(line.path).slice(0, MAX_PATH),
        route: line.route,
        service: line.upstream,
        status: line.status,
        error_reason: errorReason,
        duration_ms: line.duration_ms,
        trace_id: line.trace_id,
      }

/**
 * Notes the requests of workspaces in memory and writes them every second, so that no request waits for it. What comes
 * faster than it is written is counted, not noted (OP-293).
 */
export function requestLog({ sql }: Database, logger: Logger) {
  const waiting = waitingRequests<Logged>(MAX_WAITING)
  /** Taken out of `waiting` to be written, until they are. */
  let parts: Logged[][] = []
  let lost = 0

  async function write() {
    while (parts.length > 0 || !waiting.isEmpty) {
      if (parts.length === 0) parts = [waiting.take(BATCH_SIZE)]
      const [part = [], ...others] = parts
      parts = [...(await writeOrHalve(part)), ...others]
    }
    if (lost > 0) logger.warn({ lost }, 'requests came faster than the request log is written')
    lost = 0
  }

  /** Writes rows. Returns halves of those that PostgreSQL refuses; a row that it refuses alone is dropped. */
  async function writeOrHalve(rows: readonly Logged[]): Promise<Logged[][]> {
    try {
      await insert(rows)
    } catch (error) {
      if (causeOf(error) !== 'RECORD') throw error
      if (rows.length > 1) return [...partsOf(rows, Math.ceil(rows.length / 2))]
      const ids = rows.map((row) => ({ workspace_id: row.workspace_id, logged_request: row.request_id }))
      logger.error({ err: error, ...ids[0] }, 'PostgreSQL refused a request of the log, which drops it')
      lostRequests.add(1, { why: 'refused' })
    }
    return []
  }
  const insert = (rows: readonly Logged[]) => sql`
    insert into request_log
    select * from jsonb_populate_recordset(null::request_log, ${JSON.stringify(rows)}::text::jsonb)
    on conflict do nothing`

  const writer = worker({ name: 'request log', everyMs: EVERY_MS, logger, work: write })
  return {
    ...writer,
    /** Notes a request, in memory. */
    note(answered: AnsweredRequest): void {
      const row = rowOf(answered, currentTime())
      if (row === undefined) return
      if (!waiting.add(row.workspace_id, row)) return
      lost++
      lostRequests.add(1, { why: 'room' })
    },
    write,
    async stop() {
      await writer.stop()
      await write()
    },
  }
}
export type RequestLog = ReturnType<typeof requestLog>

/** Deletes the requests of more than seven days ago. `db` is of the worker role. */
export const expireRequests = (db: Database, logger: Logger) =>
  expireRows(db, logger, {
    name: 'clean-up of the request log',
    everyMs: CLEANED_EVERY_MS,
    batchSize: BATCH_SIZE,
    deleteBatch: () => deleteExpired(db),
  })

/** Deletes a batch, and returns its number. Replicas that delete at the same time take different rows. */
async function deleteExpired({ sql }: Database): Promise<number> {
  const { count } = await sql`
    delete from request_log where request_id in (
      select request_id from request_log where at < now() - make_interval(days => ${KEPT_DAYS})
      order by at limit ${BATCH_SIZE} for update skip locked
    )`
  return count
}
