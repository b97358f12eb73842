import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, METHODS } from 'node:http'
import { badRequest } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { traceIds } from '@backoffice/runtime/spans.ts'
import proxyAddress from '@fastify/proxy-addr'
import {
  errorCodes,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type onSendAsyncHookHandler,
} from 'fastify'
import { limitBodyTime } from './body-deadline.ts'
import { endWithTheAnswers } from './closing.ts'
import { refuseEncodedBody } from './encoded-body.ts'
import { answerError, answerMalformed } from './error-answers.ts'
import { parseJsonBody } from './json-body.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { MAX_PARAM_LENGTH, refuseUnrouted } from './other-methods.ts'
import { earlyRefusals, type RefuseEarly } from './refuse-early.ts'
import { isRepeated } from './repeated-header.ts'
import { measureRequest } from './request-metrics.ts'
import { endRequestSpan, traceRequests } from './request-span.ts'
import { plainTarget } from './request-target.ts'
import { CLIENT_LIMITS, endSlowAnswers, type WriteLimits } from './write-deadline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Additional members of the request's log line. */
    logged: Record<string, unknown>
  }
  interface FastifyContextConfig {
    /** The route takes a form with a file and reads the body itself. */
    takesFile?: boolean
    /** How long a body may take to arrive, in milliseconds; JSON_WITHIN_MS unless given. */
    bodyWithinMs?: number
    /** How long a body may stand still, in milliseconds; as long as it may take unless given. */
    bodyIdleMs?: number
  }
}

export interface AppOptions {
  readonly logger: Logger
  /** Whether X-Request-Id is taken from the caller: only behind the gateway, which sets it. */
  readonly trustRequestId: boolean
  /** Proxies before this app, as addresses and CIDR blocks; if given, even empty, the log has the client's address. */
  readonly trustedProxies?: readonly string[]
  /** Called with each request before anything reads its target, which it may change. */
  readonly readTarget?: ((request: IncomingMessage) => void) | undefined
  readonly refuseEarly?: RefuseEarly | undefined
  /** Called with each request that was answered, or whose client left. */
  readonly onAnswered?: ((answered: AnsweredRequest) => void) | undefined
  /** How slowly a client may take its answers; CLIENT_LIMITS unless given. */
  readonly writeLimits?: WriteLimits | undefined
}

/** A request as the log has it, without secrets and without its query, and the header of its answer. */
export interface AnsweredRequest {
  readonly line: Readonly<Record<string, unknown>>
  readonly errorReason: string | undefined
}

/** Of Node's HTTP server. */
const CONNECTIONS = {
  // Node would refuse a request without Host by itself, without our error body.
  requireHostHeader: false,
  keepAliveTimeout: 75_000,
  // limitBodyTime limits the body, since files take longer. Node would limit the headers by 0, too, unless told.
  requestTimeout: 0,
  headersTimeout: 60_000,
}

/**
 * Creates an app with our conventions: the error body for every failure (spec: Errors), X-Request-Id on every response
 * (OP-02), and one log line per request. On closing it finishes the requests in flight and ends server-sent events.
 */
export function createApp(options: AppOptions): FastifyInstance {
  const { logger, trustRequestId, trustedProxies, readTarget, refuseEarly, writeLimits = CLIENT_LIMITS } = options
  const clientIn = ({ ip }: FastifyRequest) => (trustedProxies === undefined ? {} : { client_ip: ip })
  const isTrusted = trustedProxies?.length ? proxyAddress.compile([...trustedProxies]) : undefined
  const addressOf = (request: IncomingMessage) =>
    isTrusted === undefined ? (request.socket.remoteAddress ?? '') : proxyAddress(request, isTrusted)
  const logAnswered = (request: FastifyRequest, reply: FastifyReply, status: number) => {
    const line = logRequest(logger, request, reply, status)
    const errorReason = reply.getHeader('error-reason')
    options.onAnswered?.({ line, errorReason: errorReason === undefined ? undefined : String(errorReason) })
  }
  const app = fastify({
    logger: false,
    bodyLimit: LIMITS.bodyBytes,
    return503OnClosing: false,
    trustProxy: isTrusted ?? false,
    serverFactory(handle) {
      const isRefused = refuseEarly && earlyRefusals(logger, refuseEarly, addressOf)
      const answer = oneAtATime((request, response) => {
        // Before anybody reads it: what the beginning of the path decides has to hold for each of its spellings.
        request.url = plainTarget(request.url ?? '')
        readTarget?.(request)
        if (!isRefused?.(request, response, { isLast: isDraining() })) handle(request, response)
      })
      // Node itself would answer an unknown Expect header, without our error body.
      return createServer(CONNECTIONS, answer).on('checkExpectation', answer)
    },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // Zod checks what routes take. Fastify would load two compilers of JSON schemas.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    requestIdHeader: trustRequestId && 'x-request-id',
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) => {
      reply.headers(headersOf(request))
      request.logged = clientIn(request)
      limitBodyTime(request, reply)
      answerError(error, request, reply)
      logAnswered(request, reply, reply.statusCode)
    },
    clientErrorHandler: (error, socket) => answerMalformed(error, socket, logger),
  })
  // `app.all` takes them all.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    body.length === 0 ? undefined : parseJsonBody(body),
  )
  app.addContentTypeParser('multipart/form-data', async ({ routeOptions, headers }: FastifyRequest) => {
    if (!routeOptions.config.takesFile) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(headers['content-type'])
  })
  app.addHook('onRoute', (route) => {
    if (route.method === 'HEAD') route.onSend = [route.onSend ?? [], withoutLengthOf304].flat()
  })
  app.decorateRequest('logged')
  traceRequests(app, trustRequestId)
  app.addHook('onRequest', async (request, reply) => {
    request.logged = clientIn(request)
    reply.headers(headersOf(request))
    // onResponse does not come when the client has closed the connection.
    reply.raw.once('close', () => {
      if (reply.raw.writableFinished) return
      const { errored } = request.raw.socket
      if (errored) request.logged = { error: errored.message, ...request.logged }
      logAnswered(request, reply, request.logged.err === undefined ? CLIENT_LEFT : BROKEN_OFF)
    })
    limitBodyTime(request, reply)
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined)
      throw badRequest(['Host'], 'is missing')
    if (isRepeated(request.raw, 'host')) throw badRequest(['Host'], 'is sent more than once')
    const { expect } = request.headers
    if (expect !== undefined && expect.toLowerCase() !== '100-continue')
      throw badRequest(['Expect'], 'must be 100-continue or absent')
  })
  refuseUnrouted(app)
  app.addHook('preParsing', async ({ raw }) => refuseEncodedBody(raw))
  app.addHook('onResponse', async (request, reply) => logAnswered(request, reply, reply.statusCode))
  app.setErrorHandler(answerError)
  const isDraining = endWithTheAnswers(app)
  endSlowAnswers(app, writeLimits)
  return app
}

/** What every answer says. Browsers take it for no other type, and stay with https for a year (OP-324). */
const headersOf = ({ id, protocol }: FastifyRequest) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  ...(protocol === 'https' && { 'strict-transport-security': 'max-age=31536000' }),
})

/** Fastify sends a length of 0. A 304 may only say the length of the body that a 200 would have (RFC 9110, 8.6). */
const withoutLengthOf304: onSendAsyncHookHandler = async (_request, reply, payload) => {
  if (reply.statusCode === 304) reply.removeHeader('content-length')
  return payload
}

const noCompiler = () => () => {
  throw new Error('routes have no JSON schemas')
}

/** The status in the log when the client closed the connection before the answer, as in nginx. */
const CLIENT_LEFT = 499
/** The status in the log when a streamed answer failed midway, or failed and the client left. */
const BROKEN_OFF = 500

function logRequest(logger: Logger, request: FastifyRequest, reply: FastifyReply, status: number) {
  measureRequest(request, reply, status)
  const line: Record<string, unknown> = {
    request_id: request.id,
    method: request.method,
    path: request.routeOptions.url ?? 'unknown',
    status,
    duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    ...traceIds(request.span),
    ...request.logged,
  }
  // `path` and `error` may repeat what the client sent.
  for (const name of ['path', 'error']) if (typeof line[name] === 'string') line[name] = withoutSecrets(line[name])
  if (status >= 500) logger.error(line, 'request')
  else logger.info(line, 'request')
  endRequestSpan(request, status)
  return line
}

const SECRET = /((?:s[ks]|cs)_(?:live|test)_|whsec_|op_(?=[0-9a-f]{32}_))[\w+/=-]+/g

/** A text for the log. Clients put keys and secrets into paths, which are cut to their beginning. */
export const withoutSecrets = (text: string): string => text.replace(SECRET, '$1…')
