import { setTimeBy } from '@backoffice/runtime/clock.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { AnySql, Sql } from './database.ts'
import { isUnavailable } from './postgres-errors.ts'

const SET_EVERY_MS = 10_000
/** An answer within this time, in ms, always sets the clock. A slower one does not, and raises the limit by as much. */
const ANSWERED_WITHIN_MS = 100
/** No more than this is allowed once an answer has come within it: the clock may be wrong by half of the round trip. */
const ANSWERED_AT_LAST_MS = 1000
/** How often it is asked at the start, at most, until an answer comes within that time. */
const ASKED_AT_START = 3
/** How far the host's clock and its monotonic time move apart when it was suspended, or its clock was set. */
const MOVED_MS = 1000

/**
 * The clock of the database, since those of hosts differ and may be wrong: reads it every ten seconds, and adds
 * monotonic time in between. Call `start` first.
 */
export function databaseClock(sql: Sql, logger: Logger, monotonic = () => performance.now(), host = Date.now) {
  /** The database's Unix time minus monotonic time, in milliseconds. */
  let offset: number | undefined
  /** The longest accepted round trip; `offset` is wrong by at most half of it. */
  let acceptedMs = Number.POSITIVE_INFINITY
  /** The host's clock minus monotonic time, which stands still while the host is suspended. */
  let apart = 0
  /** Whether the host was suspended, or its clock set, since the last call: then the next answer counts, if slow. */
  const hasMoved = (): boolean => {
    const now = host() - monotonic()
    if (Math.abs(now - apart) <= MOVED_MS) return false
    apart = now
    acceptedMs = Number.POSITIVE_INFINITY
    return true
  }
  const set = async () => {
    hasMoved()
    const askedAt = monotonic()
    const now = await databaseTime(sql)
    const tookMs = monotonic() - askedAt
    if (tookMs > acceptedMs) {
      acceptedMs = Math.max(acceptedMs, Math.min(acceptedMs + ANSWERED_WITHIN_MS, ANSWERED_AT_LAST_MS))
      return
    }
    acceptedMs = Math.max(tookMs, ANSWERED_WITHIN_MS)
    offset = now.getTime() - (askedAt + tookMs / 2)
  }
  const setting = worker({ name: 'clock of the database', everyMs: SET_EVERY_MS, logger, work: set })
  return {
    ...setting,
    /** The time of the database. */
    now(): Date {
      if (offset === undefined) throw new Error('the clock of the database is not set')
      if (hasMoved()) setting.wake()
      return new Date(monotonic() + offset)
    },
    async start() {
      for (let asked = 0; asked < ASKED_AT_START && acceptedMs > ANSWERED_WITHIN_MS; asked++) await set()
      await setting.start?.()
    },
  }
}

/** A difference of the clocks that is worth a line in the log, in milliseconds. */
const WRONG_MS = 10_000
/** The pause before PostgreSQL is asked again at the start, in milliseconds. */
const AGAIN_AFTER_MS = 1000

/** Makes the time of the process that of its database, from its start on (OP-302). Waits for a server that is away. */
export function processClock(sql: Sql, logger: Logger): Component {
  const clock = databaseClock(sql, logger)
  let isStopping = false
  return {
    ...clock,
    async start() {
      await retry(clock.start, (error) => {
        if (isStopping || !isUnavailable(error)) return undefined
        logger.warn({ err: error }, 'the clock of PostgreSQL cannot be read, trying again')
        return AGAIN_AFTER_MS
      })
      const behindMs = clock.now().getTime() - Date.now()
      if (Math.abs(behindMs) > WRONG_MS)
        logger.warn({ behind_s: Math.round(behindMs / 1000) }, "the host's clock is wrong; PostgreSQL's is used")
      setTimeBy(() => clock.now().getTime())
    },
    async stop() {
      isStopping = true
      await clock.stop()
    },
  }
}

/** The time of the database, asked for now. */
export async function databaseTime(sql: AnySql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`
  return row.now
}

/** The clocks of PostgreSQL and this host are further apart only when one of them is wrong, in milliseconds. */
const APART_MS = 86_400_000

/** Throws while one of the clocks is wrong. Call it before what is old by the database's clock is removed. */
export async function refuseWrongClock(sql: AnySql): Promise<void> {
  const databaseNow = await databaseTime(sql)
  if (Math.abs(databaseNow.getTime() - Date.now()) > APART_MS)
    throw new Error(
      `nothing is removed: it is ${databaseNow.toISOString()} by PostgreSQL, not by the clock of this host`,
    )
}

/** Now, as a part of a statement that removes what is old: by the clock that is behind, if one of the two is wrong. */
export const earlierNow = (sql: AnySql) => sql`least(now(), ${new Date()}::timestamptz)`
