import { ApiError, ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { Pool } from 'undici'
import { z } from 'zod'
import { INTERNAL_TOKEN_HEADER } from './internal-token.ts'

/** A request to an internal operation of another service. */
interface InternalRequest<Answer> {
  /** The caller's token, or one that this service has signed. */
  readonly token: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: `/internal/${string}`
  readonly body?: unknown
  /** The shape of a successful answer's body; null for an answer without one. */
  readonly answer: z.ZodType<Answer> | null
  readonly requestId?: string
  readonly traceparent?: string
  readonly signal?: AbortSignal
}

/** Calls to the internal operations of one service. */
export interface InternalCalls extends Component {
  /**
   * Sends a request and returns the body of a successful answer. Throws the refusal of the service with its code and message, or
   * `service_unavailable` when there is no answer in time or none that can be read.
   */
  send<Answer = undefined>(request: InternalRequest<Answer>): Promise<Answer>
}

interface CallLimits {
  /** Calls under way; others wait. */
  readonly connections: number
  readonly answerMs: number
}

const Refusal = z.object({
  error: z.object({ code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode]), message: z.string() }),
})

/** Opens kept-alive connections to a service. */
export function internalCalls(
  service: string,
  url: string,
  { connections, answerMs }: CallLimits = { connections: 16, answerMs: 5000 },
): InternalCalls {
  const pool = new Pool(url, {
    connections,
    pipelining: 1,
    connect: { timeout: answerMs },
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
  })

  async function answerTo(request: InternalRequest<unknown>): Promise<{ status: number; body: unknown }> {
    const { token, method, path, body, requestId, traceparent, signal } = request
    const { statusCode, body: answered } = await pool.request({
      method,
      path,
      headers: {
        [INTERNAL_TOKEN_HEADER]: token,
        traceparent: traceparentFrom(traceparent),
        ...(requestId !== undefined && { 'x-request-id': requestId }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const text = await answered.text()
    return { status: statusCode, body: text === '' ? undefined : JSON.parse(text) }
  }

  const unavailable = (cause: unknown) =>
    new ApiError('service_unavailable', `${service} does not answer now; try again`, { cause })

  return {
    name: `calls to ${service}`,
    async send(request) {
      const { status, body } = await answerTo(request).catch((error: unknown) => {
        throw unavailable(error)
      })
      if (status >= 200 && status < 300) {
        const read = (request.answer ?? z.undefined()).safeParse(body)
        if (!read.success) throw unavailable(read.error)
        return read.data as never
      }
      const refusal = Refusal.safeParse(body)
      if (status >= 500 || !refusal.success) throw unavailable(new Error(`${service} answered ${status}`))
      throw new ApiError(refusal.data.error.code, refusal.data.error.message)
    },
    async stop() {
      await pool.close()
    },
  }
}
