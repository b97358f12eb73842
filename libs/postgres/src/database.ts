import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import postgres from 'postgres'
import { answerWithin } from './answer-within.ts'
import type { BegunSql } from './begin.ts'
import { watched } from './connections.ts'
import { type DatabaseServer, tlsTo } from './database-server.ts'
import { measurePool, measureTransaction } from './pool-metrics.ts'
import { isConnectionLost, isRetriable } from './postgres-errors.ts'
import { inTransaction } from './transaction.ts'

/** The workspace a transaction acts in, and the trace it belongs to. */
export interface WorkspaceContext {
  readonly workspaceId: string
  readonly livemode: boolean
  readonly traceparent: string
  /** The id of the acting key, or the name of a worker; triggers write it into their records. */
  readonly actor?: string
  /** The most bytes that `readSized` reads at once; no limit unless given. */
  readonly mostBytes?: number | undefined
}

/** A transaction inside one workspace: row level security shows it that workspace's rows only. */
export type Transaction = postgres.TransactionSql & Entered

interface Entered {
  readonly context: WorkspaceContext
  /** The types of the records of `publish`. When there are some, the relay is woken after the commit. */
  readonly published: Set<string>
}

/** A transaction that is one workspace's alone, from its beginning to its end. */
export type WholeTransaction = BegunSql & Entered

export type Sql = postgres.Sql

/** A pool, one connection or a transaction: each can send statements. */
export type { Fragment } from 'postgres'
export type AnySql = postgres.Sql | postgres.TransactionSql

/** What bounds a transaction. */
export interface TransactionLimits {
  /** In milliseconds; that of the role unless given. A longer statement fails (`isStatementTimeout`). */
  readonly statementMs?: number
}

/**
 * A pool of connections of one role. Not ready after a transaction in a workspace that found no server, until the pool
 * has answered again.
 */
export interface Database extends Component {
  readonly sql: Sql
  /**
   * Runs `work` in a transaction that sees one workspace's rows only, and again, at most twice, after a clash
   * (deadlock, violated unique or foreign key): `work` must have no effect outside. Throws `rate_limited` when the
   * workspace waits too long because it uses as many connections as it may. `work` must not begin another transaction,
   * for which it could wait for ever.
   */
  inWorkspace<Result>(
    context: WorkspaceContext,
    work: (tx: WholeTransaction) => Promise<Result>,
    limits?: TransactionLimits,
  ): Promise<Result>
}

export interface DatabaseOptions extends DatabaseServer {
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  /** Connections at most; 10 unless given. */
  readonly poolSize?: number
  /** A transaction that has not begun for so long fails, in milliseconds; 5,000 unless given. See `BEGIN_PART`. */
  readonly beginWithinMs?: number
  /**
   * The longest transaction in a workspace, with its repetitions, in milliseconds. Its statements alone are bounded
   * unless given.
   */
  readonly endWithinMs?: number
  /** Closes connections that are idle for so long, in seconds; 20 unless given. */
  readonly idleSeconds?: number
  /**
   * Gives a connection up that is silent for so long, in milliseconds, as when the host of its server has vanished.
   * Unless given 35,000, or 23,000 when transactions have `endWithinMs`; without limit when `settings` say how long a
   * statement may take.
   */
  readonly answerWithinMs?: number
  /** Settings of the server for these connections, such as `plan_cache_mode`. A pooler refuses them. */
  readonly settings?: Readonly<Record<string, string>>
  /** Settings of the server for each transaction in a workspace: a pooler gives the connection to others afterwards. */
  readonly transactionSettings?: Readonly<Record<string, string>>
  /** Called after the commit of each transaction that wrote to the outbox. */
  readonly onPublished?: () => void
  /** Called with the text and parameters of every statement. For tests and measurements only, since it costs time. */
  readonly onStatement?: (statement: string, parameters: unknown[]) => void
}

/** The driver closes idle connections then. Those that are silent for longer wait for an answer. */
const IDLE_SECONDS = 20
/** Longer than the roles' own statement_timeout and idle_in_transaction_session_timeout. */
const ANSWER_WITHIN_MS = 35_000
/** How much later than `endWithinMs` an answer has certainly failed to come. */
const LATE_MS = 3000

/** The readiness probe waits for 2 s. */
const READY_WITHIN_MS = 1500

const ATTEMPTS = 3
/** The wait before another attempt. Without it, the victim of a deadlock could lock its rows again at once. */
const YIELD_MS = 5

/**
 * Runs `work` in a workspace, in a transaction that began without one: sets the workspace for row level security, the
 * actor for triggers, and `settings`, until it ends or enters another. The worker role still sees the rows of all
 * workspaces.
 */
export async function enter<Result, Begun extends postgres.TransactionSql>(
  begun: Begun,
  context: WorkspaceContext,
  work: (tx: Begun & Entered) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const tx = Object.assign(begun, { context, published: new Set<string>() })
  // Sent ahead of the first statement of `work` on the same connection, so it costs no round trip of its own.
  const { workspaceId, actor = '' } = context
  const further = Object.entries(settings).reduce(
    (list, [name, value]) => tx`${list}, set_config(${name}, ${value}, true)`,
    tx``,
  )
  const entered = tx`
    select set_config('app.workspace_id', ${workspaceId}, true), set_config('app.actor', ${actor}, true)${further}`.execute()
  const [result] = await Promise.all([work(tx), entered])
  return result
}

/** Opens a pool; connects when first needed. `int8` is read as a number: such columns are checked to ±(2^53−1). */
export function openDatabase(options: DatabaseOptions): Database {
  const { poolSize = 10, beginWithinMs = 5000, endWithinMs, transactionSettings, onPublished, onStatement } = options
  const beginMs = beginWithinMs * BEGIN_PART
  const share = Math.max(1, Math.floor(poolSize * SHARE))
  const connections = connectionShares(poolSize, share, beginWithinMs - beginMs)
  measurePool(options.applicationName, poolSize)
  const { idleSeconds = IDLE_SECONDS, settings } = options
  const idleMs = idleSeconds * 1000
  const answerMs = options.answerWithinMs ?? longestAnswer(options, idleMs)
  const sql = postgres(options.url, {
    ...tlsTo(options),
    ...watched(options, options.applicationName, { idleMs, answerMs }),
    max: poolSize,
    idle_timeout: idleSeconds,
    connect_timeout: 5,
    // Seconds until the next attempt to connect. Short, since requests wait for it; the driver's own limit is 20 s.
    backoff: (failures: number) => (failures > 0 ? 0.1 : 0),
    onnotice: () => undefined,
    connection: { ...settings, application_name: options.applicationName },
    // The types refuse undefined. The driver refuses it too, but the connection is unusable afterwards.
    transform: { undefined: null },
    types: { int8: { to: 20, from: [20], serialize: String, parse: Number } },
    ...(onStatement && { debug: (_connection, statement, parameters) => onStatement(statement, parameters) }),
  }) as Sql
  readArrayTypesOnce(sql)
  let hasAnswered = true

  return {
    name: options.applicationName,
    sql,
    async inWorkspace(context, work, { statementMs } = {}) {
      const settings = {
        ...transactionSettings,
        ...(statementMs !== undefined && { statement_timeout: String(statementMs) }),
      }
      const entered = (begun: BegunSql) =>
        enter(begun, context, async (tx) => ({ result: await work(tx), hasPublished: tx.published.size > 0 }), settings)
      let waitMs = beginWithinMs - beginMs
      let leftMs = endWithinMs ?? Number.POSITIVE_INFINITY
      const attempt = async () => {
        const askedAt = performance.now()
        const measure = () => measureTransaction(options.applicationName)
        // A workspace that holds its share waits for itself: that is no lack of connections.
        const waiting = connections.held(context.workspaceId) < share ? measure() : undefined
        const onFree = await connections
          .take(context.workspaceId, { key: context.actor, waitMs })
          .catch((error: unknown) => {
            waiting?.ended()
            throw error
          })
        const measured = waiting ?? measure()
        waitMs = Math.max(0, waitMs - (performance.now() - askedAt))
        const limits = { beginWithinMs: waitMs + beginMs, measured, onFree, isRepeatable: true }
        const beganAt = performance.now()
        const ends = inTransaction(sql, entered, {
          ...limits,
          ...(endWithinMs !== undefined && { endWithinMs: leftMs }),
        })
        const { result, hasPublished } = await ends
          .catch((error: unknown) => {
            if (isConnectionLost(error)) hasAnswered = false
            throw error
          })
          .finally(() => {
            leftMs -= performance.now() - beganAt
          })
        if (hasPublished) onPublished?.()
        return result
      }
      return retry(attempt, (error, failures) =>
        failures < ATTEMPTS && leftMs > 0 && isRetriable(error)
          ? failures * (YIELD_MS + Math.random() * YIELD_MS)
          : undefined,
      )
    },
    async isReady() {
      if (!hasAnswered) await answerWithin(READY_WITHIN_MS, sql`select 1`)
      hasAnswered = true
      return true
    },
    async stop() {
      await sql.end({ timeout: 5 })
    },
  }
}

/**
 * The driver reads the array types on each new connection, for the whole pool, and awaits that query nowhere: one that
 * PostgreSQL cancels would end the process (decision 013). They are the same on all connections. Without that query the
 * driver hands out no connection that `reserve` has opened, so nothing may call that on a pool.
 */
function readArrayTypesOnce({ options }: Sql): void {
  const { typeArrayMap } = (options as unknown as { shared: { typeArrayMap: object } }).shared
  Object.defineProperty(options, 'fetch_types', { get: () => Object.keys(typeArrayMap).length === 0 })
}

/** How long the server may take, in milliseconds: an idle connection is silent too, until it is closed. */
function longestAnswer({ endWithinMs, settings }: DatabaseOptions, idleMs: number): number {
  if (settings?.statement_timeout !== undefined) return Number.POSITIVE_INFINITY
  return endWithinMs === undefined ? ANSWER_WITHIN_MS : Math.max(endWithinMs, idleMs) + LATE_MS
}

/**
 * The part of `beginWithinMs` that stays for BEGIN, however late its workspace's turn for a connection comes: without
 * it the server would seem away to a transaction that has only waited for others of its workspace.
 */
const BEGIN_PART = 0.2
/** Of ten connections three stay free for a workspace that holds fewer than three. */
const SHARE = 0.3
/** Transactions of one key that wait for a connection, at most. */
const WAITING = 500

/**
 * Shares a pool among workspaces (OP-161). One that uses as many connections as it may gets `rate_limited` after
 * `waitMs`; when others use all, the error has the code CONNECT_TIMEOUT.
 */
const connectionShares = (slots: number, share: number, waitMs: number): FairSlots =>
  new FairSlots({ slots, share, waiting: WAITING, waitMs }, (why) =>
    why === 'owner' ? tooManyAtOnce() : noConnection(),
  )

const tooManyAtOnce = () =>
  new ApiError(
    'rate_limited',
    'This workspace has too many requests under way; send fewer at once, or try again shortly',
    { errorReason: 'too_many_at_once' },
  )

const noConnection = () =>
  Object.assign(new Error('every connection is in use by other workspaces'), { code: 'CONNECT_TIMEOUT' })
