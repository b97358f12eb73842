import { deadline } from '@backoffice/runtime/deadline.ts'
import { inSpan, SpanKind } from '@backoffice/runtime/spans.ts'
import type postgres from 'postgres'
import { type BegunSql, beginOn, type SentTransaction } from './begin.ts'
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
  /** Called when it uses a connection no longer: later than it throws, when it has not ended in time. */
  readonly onFree?: () => void
  /**
   * Its work has no effect outside: it runs as soon as BEGIN is sent, in the same packet, and once more when the
   * connection turns out to be lost.
   */
  readonly isRepeatable?: boolean
}

/**
 * Runs `work` in a transaction. Throws CONNECT_TIMEOUT when none has begun in time, and then keeps nothing of `work`;
 * and ETIMEDOUT when it has not ended in time: it is rolled back later, unless the commit has been sent. A connection
 * that is lost before it has begun is replaced once: the driver fails the first statement on it. COMMIT is sent without
 * waiting for statements that `work` has sent and not awaited: when one fails, PostgreSQL rolls back, and it throws.
 */
async function runTransaction<Result>(
  sql: postgres.Sql,
  work: (tx: BegunSql) => Promise<Result>,
  {
    beginWithinMs = BEGIN_WITHIN_MS,
    endWithinMs,
    measured = measureTransaction(String(sql.options.connection.application_name)),
    onFree,
    isRepeatable = false,
  }: TransactionOptions = {},
): Promise<Result> {
  const { promise: missed, reject } = Promise.withResolvers<never>()
  let late: Error | undefined
  let hasBegun = false
  let begunAt = 0
  const failWith = (message: string, code: string) => () => {
    late = Object.assign(new Error(message), { code })
    reject(late)
  }
  let inTime = deadline(
    beginWithinMs,
    failWith(`no transaction within ${Math.round(beginWithinMs)} ms`, 'CONNECT_TIMEOUT'),
  )
  const begun = () => {
    if (late) return
    hasBegun = true
    begunAt = performance.now()
    inTime()
    measured.began()
    if (endWithinMs === undefined) return
    const message = `the transaction has not ended within ${Math.round(endWithinMs)} ms`
    inTime = deadline(endWithinMs, failWith(message, 'ETIMEDOUT'))
  }
  const workOf = async ({ tx, isAnswered, settled }: SentTransaction) => {
    // Nobody would hear of an answer to BEGIN that fails later.
    if (late) throw late
    const answered = isAnswered.then(begun)
    if (!isRepeatable) await answered
    if (late) throw late
    const [result] = await Promise.all([work(tx), answered])
    // A statement may still wait for a lock beyond the time: then nothing is committed.
    if (begunAt < performance.now() - (endWithinMs ?? Number.POSITIVE_INFINITY) / 2) await settled()
    // The caller already has the error.
    if (late) throw late
    return result
  }
  const run = () => beginOn(sql, workOf)
  const done = run().catch((error: unknown) => {
    if (hasBegun || late || !isConnectionLost(error)) throw error
    return run()
  })
  const free = () => {
    measured.ended()
    onFree?.()
  }
  return Promise.race([done, missed]).finally(() => {
    inTime()
    if (hasBegun) done.then(free, free)
    else free()
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
