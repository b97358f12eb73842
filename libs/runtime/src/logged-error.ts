/** An error as a log line has it. */
export interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly table?: string
  readonly constraint?: string
  readonly cause?: LoggedError
  /** Of an AggregateError. */
  readonly errors?: readonly LoggedError[]
}

/** Classes of PostgreSQL's errors whose message quotes values: data exceptions, and errors that SQL code raises. */
const QUOTES_VALUES = /^(?:22|P0)/
const QUOTED = /"(?:[^"]|"")*"/g
const MAX_DEPTH = 5

/**
 * The members of an error that may be logged: PostgreSQL's `detail`, `where` and parameters hold contents of rows, and
 * some of its messages quote values.
 */
export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { code, table_name: table, constraint_name: constraint } = error as Error & Record<string, unknown>
  const message =
    isOfPostgres(error) && QUOTES_VALUES.test(String(code)) ? error.message.replace(QUOTED, '"…"') : error.message
  const isLast = depth === MAX_DEPTH
  return {
    type: error.name,
    message,
    ...(error.stack !== undefined && { stack: framesOf(error.stack) }),
    ...(code !== undefined && { code: String(code) }),
    ...(typeof table === 'string' && { table }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(error.cause !== undefined && !isLast && { cause: loggedError(error.cause, depth + 1) }),
    ...(error instanceof AggregateError &&
      !isLast && { errors: error.errors.map((each) => loggedError(each, depth + 1)) }),
  }
}

const isOfPostgres = (error: Error): boolean => 'severity' in error && 'routine' in error

/** The calls of a stack, without the message that it begins with. */
function framesOf(stack: string): string {
  const first = stack.search(/^\s+at /m)
  return first < 0 ? '' : stack.slice(first)
}
