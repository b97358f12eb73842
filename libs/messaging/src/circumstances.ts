import { isUnavailable } from '@backoffice/postgres/postgres-errors.ts'

/** SQLSTATE classes of a database that is not as the code expects it: roles, catalogue, tables, columns, grants. */
const NOT_AS_EXPECTED = /^(28|3D|42)/
/** SQLSTATE class of a transaction that was rolled back for the sake of another one: deadlock, serialization failure. */
const IN_THE_WAY = /^40/

/**
 * Whether a record's failure comes from the circumstances and not from the record: PostgreSQL away or out of connections,
 * another transaction in the way, or a migration, role or grant missing. Then waiting helps, and no record may be given up.
 */
export function isCircumstantial(error: unknown): boolean {
  const code = error instanceof Error && error.name === 'PostgresError' && 'code' in error ? String(error.code) : ''
  return isUnavailable(error) || NOT_AS_EXPECTED.test(code) || IN_THE_WAY.test(code)
}
