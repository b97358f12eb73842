import { ERROR_REASONS } from './error-reasons.ts'

/** Every error code of the API with its HTTP status (spec: Errors; OP-02). */
export const ERROR_STATUS = {
  bad_request: 400,
  invalid_api_key: 401,
  insufficient_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
  service_unavailable: 503,
  gateway_timeout: 504,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** Refusals of these codes say by Retry-After when to send the request again: after a second unless told otherwise. */
export const RETRIED: readonly ErrorCode[] = ['rate_limited', 'service_unavailable']

/** What a program can tell from a refusal beyond its code: the header `Error-Reason` (OP-265). */
export type ErrorReason<Code extends ErrorCode = ErrorCode> = {
  [One in Code]: keyof (typeof ERROR_REASONS)[One] & string
}[Code]

/** The reasons of a code, its usual one first. */
export const reasonsOf = (code: ErrorCode) => Object.keys(ERROR_REASONS[code]) as [ErrorReason, ...ErrorReason[]]

/** The reason in an answer of another service, perhaps of another version; undefined when the code has no such. */
export const errorReasonIn = (code: ErrorCode, header: unknown): ErrorReason | undefined =>
  reasonsOf(code).find((known) => known === header)

/** The path of a member in the request: `['variants', 1, 'sku']`. Empty for a refusal that is about no member. */
export type MemberPath = readonly PropertyKey[]

/** `['variants', 1, 'sku']` as a message shows it: `variants[1].sku`. */
export const memberPath = (path: MemberPath): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '')

/** The message about one member: its path, then the reason. */
export const memberMessage = (path: MemberPath, reason: string): string =>
  path.length === 0 ? reason : `${memberPath(path)}: ${reason}`

/** One of the members that a refusal is about. */
export interface RefusedMember {
  readonly path: MemberPath
  readonly reason: string
}

interface ErrorOptions {
  readonly path?: MemberPath
  readonly members?: readonly RefusedMember[]
  readonly cause?: unknown
  readonly headers?: Record<string, string>
  readonly errorReason?: ErrorReason | undefined
}

/** A refusal that the caller sees: `message` is `path` and `reason`, which says what to change. The log has `cause`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly path: MemberPath
  readonly reason: string
  /** What the refusal is about, member by member. */
  readonly members: readonly RefusedMember[]
  readonly headers: Record<string, string>
  readonly errorReason: ErrorReason

  constructor(code: ErrorCode, reason: string, options: ErrorOptions = {}) {
    const { path = [], members, cause, headers = {}, errorReason } = options
    super(memberMessage(path, reason), { cause })
    this.name = 'ApiError'
    this.code = code
    this.path = path
    this.reason = reason
    this.members = members ?? (path.length === 0 ? [] : [{ path, reason }])
    this.headers = { ...(RETRIED.includes(code) && { 'retry-after': '1' }), ...headers }
    this.errorReason = errorReason ?? reasonsOf(code)[0]
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

const refusal =
  <Code extends ErrorCode>(code: Code) =>
  (path: MemberPath, reason: string, errorReason?: ErrorReason<Code>): ApiError =>
    new ApiError(code, reason, { path, errorReason: errorReason as ErrorReason | undefined })

/** The request does not fit its schema (OP-09). */
export const badRequest = refusal('bad_request')
/** The request fits its schema but cannot be applied; nothing was changed (OP-02). */
export const unprocessable = refusal('unprocessable')
/** The request clashes with existing data (OP-02). */
export const conflict = refusal('conflict')
/** The workspace has no such resource (OP-02). */
export const notFound = refusal('not_found')

/** A refusal about several members. */
export const refusedMembers = <Code extends ErrorCode>(
  code: Code,
  members: readonly RefusedMember[],
  errorReason?: ErrorReason<Code>,
): ApiError =>
  new ApiError(code, members.map(({ path, reason }) => memberMessage(path, reason)).join('; '), {
    members,
    errorReason: errorReason as ErrorReason | undefined,
  })

const MESSAGE_LENGTH = 1000

/** A message as answers and the log have it: cut, since it repeats keys and paths of the request, which may be long. */
export const shownMessage = (message: string): string =>
  message.length > MESSAGE_LENGTH ? `${message.slice(0, MESSAGE_LENGTH).toWellFormed()}…` : message

/**
 * The answer of a refusal: the error body (spec: Errors), and headers that say the reason and lead to the page that
 * says what to do (OP-265).
 */
export function errorAnswer(refusal: ApiError, requestId: string, { isInternal = false } = {}) {
  const { code, status, headers, message, members, errorReason } = refusal
  const body = errorBody(code, message, requestId)
  return {
    message: body.error.message,
    headers: {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'error-reason': errorReason,
      link: `</docs/guides/errors#${errorReason}-${status}>; rel="help"`,
      'x-request-id': requestId,
    },
    // Other services need not read the message: it repeats what clients have sent.
    body: JSON.stringify(isInternal && members.length > 0 ? { error: { ...body.error, members } } : body),
  }
}

/** The error body (spec: Errors). */
export const errorBody = (code: ErrorCode, message: string, requestId: string) => ({
  error: { code, message: shownMessage(message), request_id: requestId },
})
export type ErrorBody = ReturnType<typeof errorBody>
