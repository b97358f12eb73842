import type postgres from 'postgres'
import { isConnectionLost } from './postgres-errors.ts'

const BEGIN_WITHIN_MS = 5000

/**
 * Runs `work` in a transaction. When none has begun within `beginWithinMs`, since PostgreSQL is away or every
 * connection is in use, throws an error with code CONNECT_TIMEOUT and never runs `work`. A connection that is found
 * lost before `work` has begun is replaced once: the driver fails the first statement on a lost connection.
 */
export async function inTransaction<Result>(
  sql: postgres.Sql,
  work: (tx: postgres.TransactionSql) => Promise<Result>,
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
 * Never settles when the connection is lost; then the transaction fails with the driver's own CONNECTION_CLOSED. If
 * `sql.begin` got the error, it would write ROLLBACK to the lost socket: that ends the process or leaves a connection
 * of the pool that never answers (https://github.com/porsager/postgres/issues/1208). For the same reason the work of a
 * transaction awaits only its statements and catches none of their errors.
 */
async function unlessLost<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    // The driver adds `query` to errors of its statements; other errors may come from connections to elsewhere.
    const isOfStatement = error instanceof Error && 'query' in error
    if (isOfStatement && isConnectionLost(error)) return await new Promise<never>(() => undefined)
    throw error
  }
}
