import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'

const SET_EVERY_MS = 10_000
/** An answer that took longer does not say the time closely enough, unless it is the first. */
const ANSWERED_WITHIN_MS = 100

/** What is due, what a lease holds and what is kept goes by this clock, since the clocks of replicas differ. */
export interface DatabaseClock extends Component {
  /** The time of the database. */
  now(): Date
}

/** The clock of the database: asked for every ten seconds, and measured by this process in between. Needs to be started. */
export function databaseClock(sql: Sql, logger: Logger): DatabaseClock {
  /** What `performance.now()` lacks to the time of the database, in milliseconds. */
  let offset: number | undefined
  const set = async () => {
    const askedAt = performance.now()
    const now = await databaseTime(sql)
    const answeredAt = performance.now()
    if (offset !== undefined && answeredAt - askedAt > ANSWERED_WITHIN_MS) return
    offset = now.getTime() - (askedAt + answeredAt) / 2
  }
  const setting = worker({ name: 'clock of the database', everyMs: SET_EVERY_MS, logger, work: set })
  return {
    ...setting,
    now() {
      if (offset === undefined) throw new Error('the clock of the database is not set')
      return new Date(performance.now() + offset)
    },
    async start() {
      await set()
      await setting.start?.()
    },
  }
}

/** The time of the database, asked for now. */
export async function databaseTime(sql: AnySql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`
  return row.now
}
