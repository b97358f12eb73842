import { isStatementTimeout, isUnavailable } from '@backoffice/postgres/postgres-errors.ts'

/** The batch is left unfinished, because this member stops or has lost the partition. Its records come again. */
export class Interrupted extends Error {}

/** SQLSTATE classes for a missing role, database, table, column or grant. */
const SCHEMA_MISMATCH = /^(28|3D|42)/
/** SQLSTATE class for a transaction that was rolled back in favour of another: deadlock, serialization failure. */
const ROLLED_BACK = /^40/

/**
 * Whether the error may pass without a change of the record: PostgreSQL is away, another transaction won, or a
 * migration, role or grant is missing. Such a record is tried again and never goes to the dead letters. A statement
 * that took too long is not transient: the same statement mostly takes as long again.
 */
export function isTransient(error: unknown): boolean {
  const code = error instanceof Error && error.name === 'PostgresError' && 'code' in error ? String(error.code) : ''
  if (isStatementTimeout(error)) return false
  return isUnavailable(error) || SCHEMA_MISMATCH.test(code) || ROLLED_BACK.test(code)
}
