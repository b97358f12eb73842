import { deadline } from '@backoffice/runtime/deadline.ts'
import { inSpan, SpanKind } from '@backoffice/runtime/spans.ts'
import type postgres from 'postgres'
import { measureTransaction } from './pool-metrics.ts'
import { isConnectionLost } from './postgres-errors.ts'

const BEGIN_WITHIN_MS = 5000

interface TransactionOptions {
  /** The longest time from now until it begins, in milliseconds. */
  readonly beginWithinMs?: number | undefined
  /** The longest time from its beginning until its end, in milliseconds; no limit unless given. */
  readonly endWithinMs?: number | undefined
  /** Given by a caller that has already begun to measure the wait for a connection. */
  readonly measured?: ReturnType<typeof measureTransaction>
}

/**
 * Runs `work` in a transaction. Throws CONNECT_TIMEOUT when none has begun in time, and then never runs `work`; and
 * ETIMEDOUT when it has not ended in time: it is rolled back later, unless the commit has been sent. A connection that
 * is lost before `work` has begun is replaced once: the driver fails the first statement on it.
 */
async function runTransaction<Result>(
  sql: postgres.Sql,
  work: (tx: postgres.TransactionSql) => Promise<Result>,
  {
    beginWithinMs = BEGIN_WITHIN_MS,
    endWithinMs,
    measured = measureTransaction(String(sql.options.connection.application_name)),
  }: TransactionOptions = {},
): Promise<Result> {
  const { promise: missed, reject } = Promise.withResolvers<never>()
  let late: Error | undefined
  let hasBegun = false
  const failWith = (message: string, code: string) => () => {
    late = Object.assign(new Error(message), { code })
    reject(late)
  }
  let inTime = deadline(
    beginWithinMs,
    failWith(`no transaction within ${Math.round(beginWithinMs)} ms`, 'CONNECT_TIMEOUT'),
  )
  const begun = () => {
    hasBegun = true
    inTime()
    if (endWithinMs === undefined) return
    inTime = deadline(endWithinMs, failWith(`the transaction has not ended within ${endWithinMs} ms`, 'ETIMEDOUT'))
  }
  const run = () => {
    let lost: unknown
    const ended = sql.begin(async (tx) => {
      if (late) throw late
      begun()
      measured.began()
      const result = await unlessLost(work(refusing(tx, () => lost)), () => lost !== undefined)
      // The caller already has the error.
      if (late) throw late
      return result
    }) as Promise<Result>
    return ended.catch((error: unknown) => {
      lost = error
      throw error
    })
  }
  const done = run().catch((error: unknown) => {
    if (hasBegun || late || !isConnectionLost(error)) throw error
    return run()
  })
  return Promise.race([done, missed]).finally(() => {
    inTime()
    measured.ended()
  })
}

/**
 * As `runTransaction`, in a span, which has no statements: they may contain data of rows. Its event `begun` separates
 * the wait for a connection from the work.
 */
export const inTransaction: typeof runTransaction = (sql, work, options) =>
  inSpan(
    `${sql.options.connection.application_name} transaction`,
    { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql', 'db.operation.name': 'transaction' } },
    (span) =>
      runTransaction(
        sql,
        (tx) => {
          span?.addEvent('begun')
          return work(tx)
        },
        options,
      ),
  )

/**
 * A transaction that throws the error that ended it, once it has ended: the driver ends the process when a statement is
 * sent over a connection that is closed.
 */
function refusing(tx: postgres.TransactionSql, lost: () => unknown): postgres.TransactionSql {
  const refuse = () => {
    if (lost() !== undefined) throw lost()
  }
  return new Proxy(tx, {
    apply(target, self, args) {
      refuse()
      return Reflect.apply(target as (...args: unknown[]) => unknown, self, args)
    },
    get(target, member) {
      refuse()
      return Reflect.get(target, member)
    },
  })
}

/**
 * Never settles when the connection is lost; the transaction fails with the driver's own CONNECTION_CLOSED. On the
 * error, `sql.begin` would write ROLLBACK to the lost socket, and COMMIT on a result: that ends the process or leaves a
 * connection that never answers (https://github.com/porsager/postgres/issues/1208). So the work of a transaction awaits
 * only its statements and catches none of their errors.
 */
async function unlessLost<Result>(work: Promise<Result>, hasEnded: () => boolean): Promise<Result> {
  try {
    const result = await work
    if (!hasEnded()) return result
  } catch (error) {
    // The driver adds `query` to errors of its statements; other errors may come from connections to elsewhere.
    const isOfStatement = error instanceof Error && 'query' in error
    if (!hasEnded() && !(isOfStatement && isConnectionLost(error))) throw error
  }
  return await new Promise<never>(() => undefined)
}
