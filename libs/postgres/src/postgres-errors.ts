import postgres from 'postgres'

/** Deadlock or serialization failure: the same transaction may succeed when run again. */
export const isRetriable = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && (error.code === '40P01' || error.code === '40001')

/** Whether a unique constraint refused the statement. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  error instanceof postgres.PostgresError && error.code === '23505' && error.constraint_name === constraint

const CONNECTION_LOST = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** SQLSTATE classes and codes that say the server cannot serve now: connection, resources, shutdown, starting up. */
const SERVER_AWAY = /^(08|53)|^57P0[1-5]$|^55P03$|^57014$/

/** Whether PostgreSQL could not be reached or could not serve, so that the same work may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  return CONNECTION_LOST.has(code) || (error instanceof postgres.PostgresError && SERVER_AWAY.test(code))
}
