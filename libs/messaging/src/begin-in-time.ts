import type { Sql } from '@backoffice/postgres/database.ts'
import type { TransactionSql } from 'postgres'

/**
 * Runs `work` in a transaction that begins within `ms`. Throws an error with code CONNECT_TIMEOUT when it does not: on a
 * connection that broke in the middle of a query, postgres.js (3.4.9) keeps the next query back for as long as the server
 * refuses connections. Should that transaction begin after all, it is rolled back without `work`.
 */
export async function beginInTime<Result>(
  sql: Sql,
  ms: number,
  work: (tx: TransactionSql) => Promise<Result>,
): Promise<Result> {
  let deadline: NodeJS.Timeout | undefined
  const late = Object.assign(new Error(`no transaction within ${ms} ms`), { code: 'CONNECT_TIMEOUT' })
  let isLate = false
  const missed = new Promise<never>((_, reject) => {
    deadline = setTimeout(() => {
      isLate = true
      reject(late)
    }, ms)
  })
  const done = sql.begin(async (tx) => {
    if (isLate) throw late
    clearTimeout(deadline)
    return { result: await work(tx) }
  })
  try {
    return (await Promise.race([done, missed])).result
  } finally {
    clearTimeout(deadline)
    done.catch(() => undefined)
  }
}
