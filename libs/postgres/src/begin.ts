import type postgres from 'postgres'
import { isConnectionLost, sqlStateOf } from './postgres-errors.ts'

/*
 * What postgres.js 3.4.9 has inside, as its own `begin` uses it. That one waits for the answer of BEGIN, and after the
 * loss of a connection it writes to the lost socket, which ends the process (decision 013).
 */
interface Query extends Promise<unknown> {
  handler: (query: Query) => void
  /** The error of the server because of which it was sent again. */
  readonly retried?: unknown
  reject(error: unknown): void
}
interface Connection {
  /** Sends a query. Returns whether another one may be sent before this one is answered. */
  execute(query: Query): boolean
  /** Called when all queries are answered, until the transaction has ended; then the connection goes back. */
  reserved: () => void
  onclose: (error: unknown) => void
}

/** What sends the statements of a transaction. */
export type BegunSql = postgres.TransactionSql & {
  /** Sends the last statement, of a read. COMMIT follows in the same packet, whatever `work` does afterwards. */
  readonly last: Send
}

/** Sends a statement, given as a template, and resolves with its rows. */
export type Send = <Rows extends readonly object[]>(
  template: TemplateStringsArray,
  ...parameters: readonly postgres.ParameterOrFragment<never>[]
) => PromiseLike<Rows>

/** A transaction whose BEGIN was sent. */
export interface SentTransaction {
  readonly tx: BegunSql
  /** BEGIN is answered. */
  readonly isAnswered: Promise<unknown>
  /** Resolves when all statements so far are answered, failed ones too. */
  settled(): Promise<void>
}

const IN_FAILED_TRANSACTION = '25P02'

/**
 * Runs `work` in a transaction as soon as BEGIN was sent, and commits without waiting for statements that it has not
 * awaited. Throws the first error of a statement. Once the connection is lost nothing is sent any more.
 */
export async function beginOn<Result>(
  sql: postgres.Sql,
  work: (transaction: SentTransaction) => Promise<Result>,
): Promise<Result> {
  const { promise: sent, resolve } = Promise.withResolvers<Connection>()
  // The driver keeps the connection from others unless this returns true.
  const options = { onexecute: (connection: Connection) => void resolve(connection) }
  const isAnswered = sql.unsafe('begin', [], options as postgres.UnsafeQueryOptions).execute()
  const connection = await Promise.race([sent, isAnswered.then(() => sent)])
  const statements = new Statements(sql, connection)
  isAnswered.catch((error: unknown) => statements.lose(error))
  const tx = statements.begun()

  async function worked(): Promise<Result> {
    let result: Result
    try {
      result = await work({ tx, isAnswered, settled: () => statements.settled() })
      if (statements.failure !== undefined) throw statements.failure
    } catch (error) {
      if (!statements.isLost) await statements.end('rollback')
      throw sqlStateOf(error) === IN_FAILED_TRANSACTION ? (statements.failure ?? error) : error
    }
    const { command } = await statements.end('commit')
    if (command !== 'COMMIT') throw statements.failure ?? new Error('PostgreSQL has rolled the transaction back')
    return result
  }
  return Promise.race([worked(), statements.lost])
}

/** Sends the statements of a transaction in their order, and none after the connection is lost. */
class Statements {
  /** The first error of a statement. */
  failure: unknown
  isLost = false
  readonly lost: Promise<never>
  readonly #sql: postgres.Sql
  readonly #connection: Connection
  readonly #waiting: Query[] = []
  readonly #reject: (error: unknown) => void
  #mustWait = false
  #lostBy: unknown
  #last: Query | undefined
  #ending: Promise<{ readonly command: string }> | undefined
  #isOver = false

  constructor(sql: postgres.Sql, connection: Connection) {
    const { promise, reject } = Promise.withResolvers<never>()
    this.lost = promise
    this.#reject = reject
    this.#sql = sql
    this.#connection = connection
    connection.reserved = () => this.#sendWaiting()
    connection.onclose = (error) => this.lose(error)
  }

  lose(error: unknown): void {
    this.isLost = true
    this.#lostBy ??= error
    this.failure ??= error
    this.#reject(error)
    for (const query of this.#waiting.splice(0)) query.reject(error)
  }

  async settled(): Promise<void> {
    await this.#last?.catch(() => undefined)
  }

  /** What makes statements of the pool, for statements of the transaction. */
  begun(): BegunSql {
    const sql = this.#sql
    const own = <Made>(made: Made): Made =>
      made instanceof Promise ? Object.assign(made, { handler: (query: Query) => this.#send(query) }) : made
    const tx = (...parts: Parameters<typeof sql>) => own(sql(...parts))
    const unsafe: typeof sql.unsafe = (...parts) => own(sql.unsafe(...parts))
    const last = (...parts: Parameters<typeof sql>) => {
      const made = tx(...parts).execute() as unknown as Query
      this.end('commit').catch(() => undefined)
      return made.then((rows) => {
        // The driver repeats a statement that the server does not know any more: behind COMMIT, in no workspace.
        if (made.retried !== undefined) throw made.retried
        return rows
      })
    }
    return Object.assign(tx, { unsafe, json: sql.json, last }) as unknown as BegunSql
  }

  /** Ends the transaction once. Statements that come later are refused: the connection may be another one's by then. */
  end(text: 'commit' | 'rollback'): Promise<{ readonly command: string }> {
    const handler = (query: Query) => {
      this.#send(query)
      this.#isOver = true
    }
    this.#ending ??= Object.assign(this.#sql.unsafe(text), { handler })
    return this.#ending
  }

  #send(query: Query): void {
    this.#last = query
    query.catch((error: unknown) => {
      this.failure ??= error
      // The driver closes the connection only later.
      if (isConnectionLost(error)) this.lose(error)
    })
    if (this.#isOver) query.reject(new Error('a statement of a transaction that has ended'))
    else if (this.isLost) query.reject(this.#lostBy)
    else if (this.#mustWait) this.#waiting.push(query)
    else this.#mustWait = !this.#connection.execute(query)
  }

  #sendWaiting(): void {
    this.#mustWait = false
    for (let next = this.#waiting.shift(); next; next = this.#mustWait ? undefined : this.#waiting.shift())
      this.#mustWait = !this.#connection.execute(next)
  }
}
