import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { ApiError, badRequest, errorAnswer } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import {
  isLockTimeout,
  isRetriable,
  isStatementTimeout,
  isUnavailable,
  isUniqueViolation,
} from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { refuseInTurn } from './one-at-a-time.ts'
import { MAX_PARAM_LENGTH } from './other-methods.ts'

/** What the answer that failed has told of its content. */
const OF_CONTENT = [
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-range',
  'etag',
  'last-modified',
] as const

/**
 * Answers with the contract's error body (spec: Errors), and adds the error to the request's log line. A file that
 * broke off before its first byte was to be kept for a year: its refusal is kept by nobody.
 */
export function answerError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asApiError(error, request.routeOptions.bodyLimit)
  const isInternal = request.routeOptions.url?.startsWith('/internal/') ?? false
  const { message, headers, body } = errorAnswer(refusal, request.id, { isInternal })
  const { code: error_code, errorReason: error_reason } = refusal
  request.logged = { ...request.logged, error_code, error_reason, error: message }
  if (refusal.status >= 500) request.logged.err = refusal.cause ?? error
  for (const name of OF_CONTENT) reply.removeHeader(name)
  if (reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-store')
  reply.code(refusal.status).headers(headers).send(body)
}

const retryLater = (cause: Error) => {
  if (isLockTimeout(cause)) {
    const message = 'Other requests are changing what this one needs; try again shortly'
    return new ApiError('rate_limited', message, { cause, errorReason: 'locked' })
  }
  if (isStatementTimeout(cause)) {
    const message = 'The request took too long; ask for less at once, or try again shortly'
    return new ApiError('service_unavailable', message, { cause, errorReason: 'took_too_long' })
  }
  return new ApiError('service_unavailable', 'The service cannot answer now; try again shortly', { cause })
}

/** Turns any error into an ApiError: an unexpected one into `internal_error`, with the error as cause for the log. */
export function asApiError(error: FastifyError | Error, maxBytes: number = LIMITS.bodyBytes): ApiError {
  if (error instanceof ApiError) return error
  const code = 'code' in error ? error.code : undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ApiError('payload_too_large', `body: is larger than ${maxBytes} bytes`)
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ApiError('unsupported_media_type', 'Content-Type: must be application/json')
  }
  if (code === 'FST_ERR_BAD_URL') {
    return badRequest(['path'], 'each % must begin the encoding of UTF-8, such as %C3%A9', 'malformed_request')
  }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return badRequest(['path'], `each part must have at most ${MAX_PARAM_LENGTH} characters`, 'malformed_request')
  }
  if ('statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500) {
    return new ApiError('bad_request', error.message, { cause: error, errorReason: 'malformed_request' })
  }
  if (isUniqueViolation(error)) {
    return new ApiError('conflict', 'The request clashed with others made at the same moment; send it again', {
      cause: error,
      errorReason: 'clashed',
    })
  }
  if (isUnavailable(error) || isRetriable(error)) return retryLater(error)
  return new ApiError('internal_error', 'Something went wrong on our side; the request id helps us find it', {
    cause: error,
  })
}

const NOT_HTTP: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request was not complete in time',
}

/** The time for a client to close a connection that has been ended, in milliseconds. */
const CLOSE_WITHIN_MS = 1_000

/**
 * Answers malformed HTTP with the contract's error body, on the socket itself, and closes it. Answers to requests
 * before come first.
 */
export function answerMalformed(error: ConnectionError, socket: Socket, logger: Logger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  refuseInTurn(socket, () => refuseMalformed(error, socket, logger))
}

function refuseMalformed(error: ConnectionError, socket: Socket, logger: Logger): void {
  const requestId = randomUUID()
  const refusal = badRequest([], NOT_HTTP[error.code] ?? 'The request is not well-formed HTTP', 'malformed_request')
  const { message, headers, body } = errorAnswer(refusal, requestId)
  const lines = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const head = ['HTTP/1.1 400 Bad Request', ...Object.entries(lines).map(([name, value]) => `${name}: ${value}`)]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // Until then the request goes on, with all that it holds.
  const open = setTimeout(() => socket.destroy(), CLOSE_WITHIN_MS)
  socket.once('close', () => clearTimeout(open))
  logger.info({ request_id: requestId, status: 400, error_code: 'bad_request', error: message }, 'request')
}
