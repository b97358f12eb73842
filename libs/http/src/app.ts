import { randomUUID } from 'node:crypto'
import { ApiError, errorBody } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { isUnavailable, isUniqueViolation } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { parseJsonBody } from './json-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Members the request's log line gets besides the usual ones. */
    logged: Record<string, unknown>
  }
}

export interface AppOptions {
  readonly logger: Logger
  /** Whether X-Request-Id is taken from the caller: only behind the gateway, which sets it. */
  readonly trustRequestId: boolean
}

/**
 * A Fastify instance made ours: contract error body for every failure (spec: Errors), X-Request-Id on every response
 * (OP-02), JSON bodies only, one log line per request, and requests in flight finished before it closes.
 */
export function createApp({ logger, trustRequestId }: AppOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: LIMITS.bodyBytes,
    return503OnClosing: false,
    keepAliveTimeout: 75_000,
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: 2048 },
    genReqId: ({ headers }) => {
      const given = headers['x-request-id']
      return trustRequestId && typeof given === 'string' ? given : randomUUID()
    },
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id)
      answerError(error, request, reply)
    },
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
      const body = JSON.stringify(errorBody('bad_request', 'The request is not well-formed HTTP', randomUUID()))
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      )
    },
  })
  app.decorateRequest('logged')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    parseJsonBody(body),
  )
  app.addHook('onRequest', async (request, reply) => {
    request.logged = {}
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => logRequest(logger, request, reply))
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request) => {
    throw new ApiError('not_found', `${request.method} ${request.url.split('?', 1)[0]}: no such operation`)
  })
  return app
}

function logRequest(logger: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const line = {
    request_id: request.id,
    method: request.method,
    path: request.routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    ...request.logged,
  }
  if (reply.statusCode >= 500) logger.error(line, 'request')
  else logger.info(line, 'request')
}

function answerError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asApiError(error)
  request.logged = { ...request.logged, error_code: refusal.code, error: refusal.message }
  if (refusal.status >= 500) request.logged.err = refusal.cause ?? error
  reply
    .code(refusal.status)
    .headers(refusal.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(refusal.code, refusal.message, request.id)))
}

/** Any thrown value as what the caller is told; what we did not expect is `internal_error` and keeps its cause for the log. */
export function asApiError(error: FastifyError | Error): ApiError {
  if (error instanceof ApiError) return error
  const code = 'code' in error ? error.code : undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ApiError('payload_too_large', `body: is larger than ${LIMITS.bodyBytes} bytes`)
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ApiError('unsupported_media_type', 'Content-Type: must be application/json')
  }
  if ('statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500) {
    return new ApiError('bad_request', error.message, { cause: error })
  }
  if (isUnavailable(error)) {
    return new ApiError('service_unavailable', 'The service cannot answer now; try again shortly', {
      cause: error,
      headers: { 'retry-after': '1' },
    })
  }
  if (isUniqueViolation(error)) {
    return new ApiError('conflict', 'The request clashed with others made at the same moment; send it again', {
      cause: error,
    })
  }
  return new ApiError('internal_error', 'Something went wrong on our side; the request id helps us find it', {
    cause: error,
  })
}
