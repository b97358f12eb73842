import { setTimeout as pause } from 'node:timers/promises'
import type { Part } from '@backoffice/runtime/process.ts'
import postgres from 'postgres'
import { isRetriable } from './postgres-errors.ts'
import { inTransaction } from './transaction.ts'

/** The workspace a transaction acts in, and the trace it belongs to. */
export interface WorkspaceContext {
  readonly workspaceId: string
  readonly livemode: boolean
  readonly traceparent: string
  /** Who acts, for what the database records by itself: the id of a key, or the name of a worker. */
  readonly actor?: string
}

/** A transaction inside one workspace: row level security shows it that workspace's rows only. */
export type Transaction = postgres.TransactionSql & {
  readonly context: WorkspaceContext
  /** Set by `publish`: the relay has something to do once this transaction has committed. */
  hasPublished: boolean
}

export type Sql = postgres.Sql

/** What a statement can be sent through: a pool, one connection, or a transaction. */
export type AnySql = postgres.Sql | postgres.TransactionSql

/** A pool of connections of one role. */
export interface Database extends Part {
  readonly sql: Sql
  /**
   * Runs `work` in a transaction that sees one workspace's rows only. Runs it again, at most twice, when a concurrent
   * transaction was in its way (deadlock, violated unique or foreign key), so `work` must have no effect outside the
   * transaction.
   */
  inWorkspace<Result>(context: WorkspaceContext, work: (tx: Transaction) => Promise<Result>): Promise<Result>
}

export interface DatabaseOptions {
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  /** Connections at most; 10 unless given. */
  readonly poolSize?: number
  /** How long a transaction waits for a connection before it fails as unavailable, in milliseconds; 5,000 unless given. */
  readonly beginWithinMs?: number
  /** Settings of the server for these connections, such as `plan_cache_mode`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called after the commit of each transaction that wrote to the outbox. */
  readonly onPublished?: () => void
  /** Called with the text and parameters of every statement sent: for tests and measurements only, since it costs time. */
  readonly onStatement?: (statement: string, parameters: unknown[]) => void
}

const ATTEMPTS = 3
/** Before running again: run at once, the victim of a deadlock can take its rows before the other transaction wakes. */
const YIELD_MS = 5

/** Seconds until a lost connection is made anew: requests wait for it, and the driver's own 20 s outlast the outage. */
export const reconnectAfter = (failures: number): number => (failures > 0 ? 0.1 : 0)

/** Sets what row level security and the database's own records go by, until the transaction ends. */
const enterWorkspace = (tx: AnySql, { workspaceId, actor = '' }: WorkspaceContext) => tx`
  select set_config('app.workspace_id', ${workspaceId}, true), set_config('app.actor', ${actor}, true)`

/**
 * Takes a transaction that has begun outside any workspace into one, where it stays until it ends or enters another, and runs
 * `work` there. The walls hold for the app role: what the worker role reaches of all workspaces, it reaches in there as well.
 */
export async function enter<Result>(
  begun: postgres.TransactionSql,
  context: WorkspaceContext,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const tx: Transaction = Object.assign(begun, { context, hasPublished: false })
  // Sent ahead of the first statement of `work` on the same connection, so it costs no round trip of its own.
  const entered = enterWorkspace(tx, context).execute()
  const [result] = await Promise.all([work(tx), entered])
  return result
}

/** Opens a pool; connections are made when first needed. `int8` is read as a number: every such column is checked to ±(2^53−1). */
export function openDatabase(options: DatabaseOptions): Database {
  const { onPublished, onStatement } = options
  const sql = postgres(options.url, {
    max: options.poolSize ?? 10,
    connect_timeout: 5,
    backoff: reconnectAfter,
    onnotice: () => undefined,
    connection: { ...options.settings, application_name: options.applicationName },
    // The driver refuses undefined, which the types do, in a way that leaves the connection out of step for good.
    transform: { undefined: null },
    types: { int8: { to: 20, from: [20], serialize: String, parse: Number } },
    ...(onStatement && { debug: (_connection, statement, parameters) => onStatement(statement, parameters) }),
  }) as Sql

  const attempt = <Result>(context: WorkspaceContext, work: (tx: Transaction) => Promise<Result>) =>
    inTransaction(
      sql,
      (begun) => enter(begun, context, async (tx) => ({ result: await work(tx), hasPublished: tx.hasPublished })),
      options.beginWithinMs,
    )

  return {
    name: options.applicationName,
    sql,
    async inWorkspace(context, work) {
      for (let attempts = 1; ; attempts++) {
        try {
          const { result, hasPublished } = await attempt(context, work)
          if (hasPublished) onPublished?.()
          return result
        } catch (error) {
          if (attempts === ATTEMPTS || !isRetriable(error)) throw error
          await pause(attempts * (YIELD_MS + Math.random() * YIELD_MS))
        }
      }
    },
    async isReady() {
      await sql`select 1`
      return true
    },
    async stop() {
      await sql.end({ timeout: 5 })
    },
  }
}
