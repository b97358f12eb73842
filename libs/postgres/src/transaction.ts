import type postgres from 'postgres'
import { isConnectionLost } from './postgres-errors.ts'

/**
 * Runs `work` in a transaction: `sql.begin` without what it does when the connection is lost. It would write ROLLBACK to a
 * socket that is gone, and that ends the process (https://github.com/porsager/postgres/issues/1208). A `work` that never
 * settles keeps it from doing so: the transaction then fails with the driver's own CONNECTION_CLOSED. For the same reason
 * `work` awaits nothing but its statements, and swallows none of their errors.
 *
 * A connection found lost before `work` has begun is replaced once, unnoticed: the driver fails the first statement on the
 * replacement with the error of the last one before.
 */
export async function inTransaction<Result>(
  sql: postgres.Sql,
  work: (tx: postgres.TransactionSql) => Promise<Result>,
): Promise<Result> {
  let hasBegun = false
  const run = () =>
    sql.begin(async (tx) => {
      hasBegun = true
      try {
        return await work(tx)
      } catch (error) {
        if (isConnectionLost(error)) return await new Promise<never>(() => undefined)
        throw error
      }
    }) as Promise<Result>
  try {
    return await run()
  } catch (error) {
    if (hasBegun || !isConnectionLost(error)) throw error
    return run()
  }
}
