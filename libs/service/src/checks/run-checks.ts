import { type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import { type LockSession, openLockSession } from '@backoffice/postgres/lock-session.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { deadline } from '@backoffice/runtime/deadline.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { Check, Checking, Checks } from './check.ts'
import { MOST_FINDINGS, type RunParameters } from './check-run.ts'

/** How soon a replica takes over the run of one that has ended. A run that is asked for begins at once. */
const EVERY_MS = 5000
/** A run that was begun so often is given up: it may be what ends the replicas. */
const MOST_BEGUN = 5
const RUN_WITHIN_MS = 60 * 60_000
const ANSWER_WITHIN_MS = 10_000
const MOST_BYTES = 1024 * 1024

const SETTINGS = {
  ...PLAN_EACH_TIME,
  statement_timeout: '15min',
  // Requests come first.
  max_parallel_workers_per_gather: '0',
  // The statement of a process that has ended ends too, and with it the lock.
  client_connection_check_interval: '1s',
}

interface Running {
  readonly server: DatabaseServer
  readonly pool: Pick<Database, 'sql'>
  readonly logger: Logger
}

interface Run {
  readonly id: string
  readonly check: string
  readonly parameters: RunParameters
  readonly begun: number
}

/**
 * Runs the checks that operators ask a service for (OP-299), one at a time among its replicas, over one connection. It
 * holds an advisory lock, so a replica that ends, or loses it, leaves its run to another one, which begins it again.
 */
export function runChecks(name: ServiceName, checks: Checks, { server, pool: { sql }, logger }: Running) {
  const lockName = `checks ${schemaOf(name)}`

  /** The oldest run that waits, or that a replica has left. Only who holds the lock asks. */
  async function begin(): Promise<Run | undefined> {
    await sql`
      update check_run set state = 'FAILED', ended_at = now(),
        error = ${`it was begun ${MOST_BEGUN} times, and its replica ended each time: see the logs of ${name}`}
      where ended_at is null and begun >= ${MOST_BEGUN}`
    const [run] = await sql<Run[]>`
      update check_run set state = 'RUNNING', begun = begun + 1, started_at = now()
      where id = (select id from check_run where ended_at is null order by created_at, id limit 1)
      returning id, check_name as check, parameters, begun`
    return run
  }

  async function carryOut({ id, check, parameters, begun }: Run, session: LockSession) {
    const { report, kept } = findings()
    let isLate = false
    const ended = deadline(RUN_WITHIN_MS, () => {
      isLate = true
      void session.close()
    })
    const given = { sql: session.sql, parameters, report }
    const result = await outcomeOf(checks[check], given, session.lost).finally(ended)
    // Another replica, or the next attempt, begins it again.
    if (session.lost.aborted && !isLate) return
    const error = isLate ? 'it took longer than an hour' : result.error
    if (error !== null) logger.warn({ err: result.cause, check, run: id }, 'a check failed')
    const { found, items } = kept
    await sql`
      update check_run set state = ${error === null ? 'SUCCEEDED' : 'FAILED'}, 
        checked = ${JSON.stringify(result.checked)}::text::json,
        found = ${found}, findings = ${`[${items.join()}]`}::text::json, error = ${error}, ended_at = now()
      where id = ${id} and begun = ${begun} and ended_at is null`
    logger.info({ check, run: id, found }, 'a check has ended')
  }

  return worker({
    name: 'checks',
    everyMs: EVERY_MS,
    logger,
    async work(stopping) {
      const [waiting] = await sql`
        with expired as (delete from check_run where ended_at < now() - interval '7 days')
        select from check_run where ended_at is null limit 1`
      if (waiting === undefined || stopping.aborted) return
      const session = openLockSession(server, `${name} checks`, ANSWER_WITHIN_MS, SETTINGS)
      const close = () => void session.close()
      stopping.addEventListener('abort', close)
      try {
        const [lock] = await session.answered(
          session.sql<[{ held: boolean }]>`select pg_try_advisory_lock(hashtextextended(${lockName}, 0)) as held`,
        )
        while (lock.held && !session.lost.aborted) {
          const run = await begin()
          if (run === undefined) return
          await carryOut(run, session)
        }
      } finally {
        stopping.removeEventListener('abort', close)
        await session.close()
      }
    },
  })
}

/** Ends when the run is to end, also while the check waits for something else. */
async function outcomeOf(check: Check | undefined, given: Checking, lost: AbortSignal) {
  try {
    if (check === undefined) throw new Error('this version of the service does not have it')
    const { promise: ended, reject } = Promise.withResolvers<never>()
    lost.addEventListener('abort', () => reject(new Error('its connection was lost')))
    return { checked: await Promise.race([check.run(given), ended]), error: null }
  } catch (cause) {
    return { checked: {}, error: (cause as Error).message.slice(0, 500), cause }
  }
}

/** Counts findings, and keeps the first of them as JSON. */
function findings() {
  const kept = { found: 0, items: [] as string[] }
  let bytes = 0
  const report = (finding: object) => {
    if (!('tooYoung' in finding && finding.tooYoung === true)) kept.found++
    if (kept.items.length === MOST_FINDINGS || bytes > MOST_BYTES) return
    const item = JSON.stringify(finding)
    bytes += item.length
    kept.items.push(item)
  }
  return { kept, report }
}
