import { ApiError } from '@backoffice/contracts/errors.ts'
import { isStatementTimeout, sqlStateOf } from '@backoffice/postgres/postgres-errors.ts'
import { z } from 'zod'

/**
 * The batch is left unfinished: this member stops, has lost the partition or lets it pause, or its records take a
 * further transaction. They come again.
 */
export class Interrupted extends Error {}

/**
 * What an error comes from, which decides what becomes of the record:
 *
 * - RECORD: its values are refused, now and later. It goes to the dead letters.
 * - BUG: our code fails on it, or its statement takes too long. It waits for `BUG_PATIENCE_MS`, then goes there too.
 * - WORLD: all else. It waits until the error is over, however long that takes.
 */
export type ErrorCause = 'RECORD' | 'BUG' | 'WORLD'

/** How long bugs that all records meet are waited for, in milliseconds (`Patience`): a deploy may end them. */
export const BUG_PATIENCE_MS = 5 * 60_000

/** SQLSTATE classes: data exception, integrity constraint violation. */
const OF_RECORD = /^2[23]/
/** SQLSTATE classes: unsupported feature, cardinality, syntax or access rule, program limit, raised by a function. */
const OF_BUG = /^(0A|21|42|54|P0)/
/** A grant, table, column, function or schema is missing: a migration is late, or a restore is not over. */
const NOT_THERE_YET = new Set(['42501', '42P01', '42703', '42883', '3F000'])

/** Codes of wrong calls of the driver. */
const MISUSE = new Set(['UNDEFINED_VALUE', 'MAX_PARAMETERS_EXCEEDED', 'NOT_TAGGED_CALL'])

/** What an error of a handler comes from. Whatever nobody has thought of is of the world: no record is lost by it. */
export function causeOf(error: unknown): ErrorCause {
  if (error instanceof ApiError) return error.status < 500 && error.code !== 'rate_limited' ? 'RECORD' : 'WORLD'
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'RECORD'
  const sqlState = sqlStateOf(error)
  if (sqlState === undefined) return causeOutsideDatabase(error)
  if (OF_RECORD.test(sqlState)) return 'RECORD'
  if (isStatementTimeout(error)) return 'BUG'
  return OF_BUG.test(sqlState) && !NOT_THERE_YET.has(sqlState) ? 'BUG' : 'WORLD'
}

/** Errors of connections, files and drivers have a code. Those of our own code have none. */
function causeOutsideDatabase(error: unknown): ErrorCause {
  if (!(error instanceof Error)) return 'BUG'
  if (error.cause !== undefined) return causeOf(error.cause)
  const isOurs = !('code' in error) || error instanceof TypeError || error instanceof RangeError
  return isOurs || MISUSE.has(String(error.code)) ? 'BUG' : 'WORLD'
}
