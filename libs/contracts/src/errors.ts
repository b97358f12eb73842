/** Every error code of the API with its HTTP status (spec: Errors; OP-02). */
export const ERROR_STATUS = {
  bad_request: 400,
  invalid_api_key: 401,
  insufficient_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
  service_unavailable: 503,
  gateway_timeout: 504,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/**
 * A refusal the caller is told about: thrown where it is found, turned into the error body in one place. `message` names
 * the field by its path and says what to change; `cause` goes to the log only.
 */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; headers?: Record<string, string> } = {}) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

/** The request is malformed: what a schema can tell (OP-09). */
export const badRequest = (message: string): ApiError => new ApiError('bad_request', message)
/** The request is well-formed but cannot be applied; nothing was (OP-02). */
export const unprocessable = (message: string): ApiError => new ApiError('unprocessable', message)
/** The request clashes with what exists (OP-02). */
export const conflict = (message: string): ApiError => new ApiError('conflict', message)
/** No such thing in this workspace (OP-02). */
export const notFound = (message: string): ApiError => new ApiError('not_found', message)

/** The error body (spec: Errors). */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; request_id: string }
}

export const errorBody = (code: ErrorCode, message: string, requestId: string): ErrorBody => ({
  error: { code, message, request_id: requestId },
})
