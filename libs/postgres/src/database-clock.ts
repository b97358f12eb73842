import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { AnySql, Sql } from './database.ts'

const SET_EVERY_MS = 10_000
/** The longest accepted round trip, in milliseconds. The first answer is always accepted. */
const ANSWERED_WITHIN_MS = 100

/**
 * The clock for due times, leases and retention, since the clocks of replicas differ. Reads the database's clock every
 * ten seconds, and adds monotonic time in between. Call `start` first.
 */
export function databaseClock(sql: Sql, logger: Logger) {
  /** The database's Unix time minus `performance.now()`, in milliseconds. */
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
    /** The time of the database. */
    now(): Date {
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
