import type postgres from 'postgres'
import { isConnectionLost } from './postgres-errors.ts'

const BEGIN_WITHIN_MS = 5000

type Work<Result> = (tx: postgres.TransactionSql) => Promise<Result>

/**
 * Runs `work` in a transaction. When none has begun within `beginWithinMs`, since PostgreSQL is away or every connection
 * is taken, throws an error with code CONNECT_TIMEOUT and never runs `work`. A connection found lost before `work` has
 * begun is replaced once, unnoticed: the driver fails the first statement on it with the error of the last one before.
 */
export async function inTransaction<Result>(
  sql: postgres.Sql,
  work: Work<Result>,
  beginWithinMs = BEGIN_WITHIN_MS,
): Promise<Result> {
  const { promise: missed, reject } = Promise.withResolvers<never>()
  let late: Error | undefined
  let hasBegun = false
  const deadline = setTimeout(() => {
    late = Object.assign(new Error(`no transaction within ${beginWithinMs} ms`), { code: 'CONNECT_TIMEOUT' })
    reject(late)
  }, beginWithinMs)
  const run = () =>
    sql.begin(async (tx) => {
      if (late) throw late
      hasBegun = true
      clearTimeout(deadline)
      return await unlessLost(work(tx))
    }) as Promise<Result>
  const done = run().catch((error: unknown) => {
    if (hasBegun || late || !isConnectionLost(error)) throw error
    return run()
  })
  return Promise.race([done, missed]).finally(() => clearTimeout(deadline))
}

/**
 * Never settles when the connection is lost, which makes the transaction fail with the driver's own CONNECTION_CLOSED.
 * Given the error, `sql.begin` would write ROLLBACK to a socket that is gone: that ends the process or leaves the pool's
 * connection mute for good (https://github.com/porsager/postgres/issues/1208). For the same reason the work of a
 * transaction awaits nothing but its statements, and swallows none of their errors.
 */
async function unlessLost<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (isOfStatement(error) && isConnectionLost(error)) return await new Promise<never>(() => undefined)
    throw error
  }
}

/** The driver adds its statement to the error of one; a lost connection to somewhere else is no concern of this one. */
const isOfStatement = (error: unknown): boolean => error instanceof Error && 'query' in error
