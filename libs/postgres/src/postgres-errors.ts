import postgres from 'postgres'

const DEADLOCK = '40P01'
const SERIALIZATION_FAILURE = '40001'
const FOREIGN_KEY_VIOLATION = '23503'
const UNIQUE_VIOLATION = '23505'
const LOCK_NOT_AVAILABLE = '55P03'
const QUERY_CANCELED = '57014'

/** The SQLSTATE of an error of PostgreSQL; undefined for other errors. */
export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof postgres.PostgresError ? error.code : undefined

/** Whether a unique value exists already, such as one that a concurrent transaction wrote first. */
export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === UNIQUE_VIOLATION

/** Whether a statement waited too long for a lock (`lock_timeout`). */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === LOCK_NOT_AVAILABLE

/** Whether a statement took too long (`statement_timeout`). */
export const isStatementTimeout = (error: unknown): boolean => sqlStateOf(error) === QUERY_CANCELED

const RETRIABLE = new Set([DEADLOCK, SERIALIZATION_FAILURE, FOREIGN_KEY_VIOLATION, UNIQUE_VIOLATION])

/** Whether to run the transaction again: it sees the rows of the faster one then, and may succeed. */
export const isRetriable = (error: unknown): boolean => RETRIABLE.has(sqlStateOf(error) ?? '')

const CONNECTION_LOST = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'EPROTO',
  'ETIMEDOUT',
])

const ENDS_CONNECTION = new Set(['FATAL', 'PANIC'])

/** Whether the connection was lost, and the transaction with it. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { severity, severity_local, code } = error as Partial<postgres.PostgresError>
  // PgBouncer sends the severity alone that PostgreSQL translates.
  return ENDS_CONNECTION.has(severity ?? severity_local ?? '') || CONNECTION_LOST.has(code ?? '')
}

/** SQLSTATEs of a transaction whose end is unknown, as poolers may send them. */
const END_UNKNOWN = /^08|^40003$/

/** Whether a transaction has kept nothing: it has not begun, or PostgreSQL refused a statement or the commit. */
export function isRolledBack(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && error.code === 'CONNECT_TIMEOUT') return true
  const state = sqlStateOf(error)
  return state !== undefined && !isConnectionLost(error) && !END_UNKNOWN.test(state)
}

/**
 * Whether a connection was lost in the driver's own first query, for the array types, that it awaits nowhere. It opens
 * another connection and asks again (decision 013).
 */
export const isLostWhileOpened = (error: unknown): boolean =>
  isConnectionLost(error) && String((error as { query?: unknown }).query).includes('pg_catalog.pg_type')

/**
 * SQLSTATE classes and codes of a server that cannot serve now: connection, resources, shutdown, start, timeouts, and
 * writes to one that is read-only, as before or after a fail-over.
 */
const SERVER_AWAY = /^(08|53)|^57P0[1-5]$|^55P03$|^57014$|^25006$/

/** Whether PostgreSQL could not be reached or could not serve: the same work may succeed later. */
export const isUnavailable = (error: unknown): boolean =>
  isConnectionLost(error) || SERVER_AWAY.test(sqlStateOf(error) ?? '')
