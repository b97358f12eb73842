import type postgres from 'postgres'
import { isConnectionLost } from './postgres-errors.ts'

/**
 * Runs `work` in a transaction of its own: commits when it returns, rolls back when it throws. Stands in for the driver's
 * `begin`, which after the loss of a connection goes on writing to it: that ends the process
 * (https://github.com/porsager/postgres/issues/1208), or reaches the next transaction on the connection that replaces it.
 * BEGIN is sent with the first statement, so it costs no round trip of its own. `work` must await nothing but statements.
 */
export async function inTransaction<Result>(
  sql: postgres.Sql,
  work: (tx: postgres.ISql) => Promise<Result>,
): Promise<Result> {
  const connection = await sql.reserve()
  let isOver = false
  const tx = new Proxy<postgres.ISql>(connection, {
    apply(query, self, args) {
      if (isOver) throw new Error('the transaction is over: a statement came late')
      return Reflect.apply(query, self, args)
    },
  })
  try {
    const begun = connection`begin`.execute()
    const [result] = await Promise.all([work(tx), begun])
    isOver = true
    const { command } = await connection`commit`
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back: the error of a statement was swallowed')
    connection.release()
    return result
  } catch (error) {
    isOver = true
    // A lost connection is not released: the pool has it back already.
    if (!isConnectionLost(error)) await rollBack(connection)
    throw error
  }
}
