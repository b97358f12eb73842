import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApiError, errorAnswer } from '@backoffice/contracts/errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { countRequest } from './request-metrics.ts'

/** Decides about a request before it is routed. `address` is the client's. */
export type RefuseEarly = (request: IncomingMessage, address: string) => ApiError | undefined

/** The shortest time between two log lines, in milliseconds: a flood of requests must not flood the log. */
const LINE_EVERY_MS = 100

/** Answers what `refuseEarly` refuses, before Fastify, where a flood costs less. Returns whether it has answered. */
export function earlyRefusals(
  logger: Logger,
  refuseEarly: RefuseEarly,
  addressOf: (request: IncomingMessage) => string,
) {
  const log = sampledLog(logger)
  return (request: IncomingMessage, response: ServerResponse, { isLast }: { isLast: boolean }): boolean => {
    const address = addressOf(request)
    const refusal = refuseEarly(request, address)
    if (refusal === undefined) return false
    const requestId = randomUUID()
    const { headers, body } = errorAnswer(refusal, requestId)
    response.writeHead(refusal.status, {
      ...headers,
      // A body is not read.
      ...((isLast || hasBody(request)) && { connection: 'close' }),
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
    countRequest({ method: request.method ?? '', route: 'unrouted', status: refusal.status, code: refusal.code })
    log({ request_id: requestId, method: request.method, client_ip: address }, refusal)
    return true
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Writes a line for one of many refusals. `refused` is their number since the line before. */
function sampledLog(logger: Logger) {
  let [refused, loggedAt] = [0, Number.NEGATIVE_INFINITY]
  return (line: Record<string, unknown>, { status, code, message }: ApiError) => {
    refused++
    const now = performance.now()
    if (now - loggedAt < LINE_EVERY_MS) return
    logger.info({ ...line, status, error_code: code, error: message, refused }, 'request')
    refused = 0
    loggedAt = now
  }
}
