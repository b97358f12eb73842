/** A refusal of the API, or its absence. `message` names the field and the fix. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly reason: string | null

  constructor(status: number, code: string, message: string, requestId?: string, reason: string | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.reason = reason
  }
}

interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message?: string; readonly request_id?: string }
}

/** The failure that an answer with an error status tells of. Proxies answer without a body of ours. */
export function failureOf({ status, headers }: Response, body: unknown): ApiFailure {
  const { code = 'unknown', message = `The server answered ${status}.`, request_id } = (body as ErrorBody)?.error ?? {}
  const requestId = request_id ?? headers.get('x-request-id') ?? undefined
  return new ApiFailure(status, code, message, requestId, headers.get('error-reason'))
}

/**
 * Whether an error says that the session is over. From an address that has sent many wrong keys the gateway says so to
 * a cookie that opens nothing; a session works there all the same.
 */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 401 || error.reason === 'too_many_wrong_keys')

/** Whether a page may show what is no longer so: somebody else was faster, or nobody knows what became of the act. */
export const leavesOldBehind = (error: unknown): boolean =>
  error instanceof ApiFailure
    ? [404, 409, 412].includes(error.status) || error.status >= 500
    : error instanceof TypeError

/** What somebody reads of any error. */
export const textOf = (error: unknown): string => {
  if (error instanceof ApiFailure) return error.message
  if (error instanceof TypeError) return 'The server does not answer. Check the connection, then try again.'
  return String(error instanceof Error ? error.message : error)
}

/** As `textOf`, of what was sent: what nobody knows the fate of can be sent again, and support asks for its id. */
export const sentTextOf = (error: unknown): string => {
  if (!(error instanceof ApiFailure) || error.status < 500) return textOf(error)
  const { message, requestId } = error
  return `${message} Try again; it is done once.${requestId === undefined ? '' : ` Request ${requestId}`}`
}

/** What was read, or null where the API has none: it is not there, or not there yet. */
export const orNone = <Data>(read: Promise<Data>): Promise<Data | null> =>
  read.catch((error) => {
    if (error instanceof ApiFailure && (error.status === 404 || error.status === 409)) return null
    throw error
  })
