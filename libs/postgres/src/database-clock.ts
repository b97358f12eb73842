import { setTimeBy } from '@backoffice/runtime/clock.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { AnySql, Sql } from './database.ts'

const SET_EVERY_MS = 10_000
/** An answer within this time, in ms, always sets the clock. Each one left out lets the next take so much longer. */
const ANSWERED_WITHIN_MS = 100
/** How often it is asked at the start, at most, until an answer comes within that time. */
const ASKED_AT_START = 3

/**
 * The clock of the database, since those of hosts differ and may be wrong: reads it every ten seconds, and adds
 * monotonic time in between. Call `start` first.
 */
export function databaseClock(sql: Sql, logger: Logger, monotonic = () => performance.now()) {
  /** The database's Unix time minus monotonic time, in milliseconds. */
  let offset: number | undefined
  /** The longest accepted round trip; `offset` is wrong by at most half of it. */
  let acceptedMs = Number.POSITIVE_INFINITY
  const set = async () => {
    const askedAt = monotonic()
    const now = await databaseTime(sql)
    const tookMs = monotonic() - askedAt
    if (tookMs > acceptedMs) {
      acceptedMs += ANSWERED_WITHIN_MS
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

/** Makes the time of the process that of its database, from its start on (OP-302). */
export function processClock(sql: Sql, logger: Logger): Component {
  const clock = databaseClock(sql, logger)
  return {
    ...clock,
    async start() {
      await clock.start()
      const behindMs = clock.now().getTime() - Date.now()
      if (Math.abs(behindMs) > WRONG_MS)
        logger.warn({ behind_s: Math.round(behindMs / 1000) }, "the host's clock is wrong; PostgreSQL's is used")
      setTimeBy(() => clock.now().getTime())
    },
  }
}

/** The time of the database, asked for now. */
export async function databaseTime(sql: AnySql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`
  return row.now
}
