/** Classes of PostgreSQL's errors whose message quotes values: data exceptions, and errors that SQL code raises. */
const QUOTES_VALUES = /^(?:22|P0)/
const QUOTED = /"(?:[^"]|"")*"/g
const MAX_DEPTH = 5

/**
 * The members of an error that may be logged: PostgreSQL's `detail`, `where` and parameters hold contents of rows, and
 * some of its messages quote values.
 */
export function loggedError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { code, table_name: table, constraint_name: constraint } = error as Error & Record<string, unknown>
  const isQuoting = isOfPostgres(error) && QUOTES_VALUES.test(String(code))
  const isLast = depth === MAX_DEPTH
  const inner = (each: unknown) => loggedError(each, depth + 1)
  return {
    type: error.name,
    message: isQuoting ? error.message.replace(QUOTED, '"…"') : error.message,
    stack: error.stack && framesOf(error.stack),
    code: code?.toString(),
    table: textOf(table),
    constraint: textOf(constraint),
    cause: error.cause === undefined || isLast ? undefined : inner(error.cause),
    errors: error instanceof AggregateError && !isLast ? error.errors.map(inner) : undefined,
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

const isOfPostgres = (error: Error): boolean => 'severity' in error && 'routine' in error

/** The calls of a stack, without the message that it begins with. */
function framesOf(stack: string): string {
  const first = stack.search(/^\s+at /m)
  return first < 0 ? '' : stack.slice(first)
}
