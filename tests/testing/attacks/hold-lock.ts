import type postgres from 'postgres'

/** Takes locks in a transaction of its own and holds them until the returned function is called. */
export async function holdLock(sql: postgres.Sql, lock: (tx: postgres.TransactionSql) => Promise<unknown>) {
  const taken = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const transaction = sql.begin(async (tx) => {
    await lock(tx)
    taken.resolve()
    await over.promise
  })
  await Promise.race([taken.promise, transaction])
  return async () => {
    over.resolve()
    await transaction
  }
}
