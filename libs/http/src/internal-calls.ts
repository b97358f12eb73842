import { ApiError, ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'
import type { ServiceName } from '@backoffice/contracts/services.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { TraceHeaders } from '@backoffice/runtime/trace-context.ts'
import { Pool } from 'undici'
import { z } from 'zod'
import { inCallSpan } from './call-span.ts'
import { IDLE_CONNECTIONS } from './idle-connections.ts'
import { INTERNAL_TOKEN_HEADER } from './internal-token.ts'
import type { CallingFor, TokenSigner } from './token-signer.ts'

/** A request to an internal operation of another service. */
interface InternalRequest<Answer> {
  readonly caller: CallingFor
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
   * Sends a request and returns the body of a successful answer. Throws the refusal of the service with its code and
   * message, or `service_unavailable` when there is no answer in time or none that can be read.
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
  service: ServiceName,
  url: string,
  signer: TokenSigner,
  { connections, answerMs }: CallLimits = { connections: 16, answerMs: 5000 },
): InternalCalls {
  const pool = new Pool(url, {
    connections,
    pipelining: 1,
    connect: { timeout: answerMs },
    ...IDLE_CONNECTIONS,
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
  })

  async function answerTo(request: InternalRequest<unknown>, trace: TraceHeaders) {
    const { caller, method, path, body, requestId, signal } = request
    const { statusCode, body: answered } = await pool.request({
      method,
      path,
      headers: {
        [INTERNAL_TOKEN_HEADER]: await signer.ownCall(caller, service, new Date()),
        ...trace,
        ...(requestId !== undefined && { 'x-request-id': requestId }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const text = await answered.text()
    return { statusCode, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  const unavailable = (cause: unknown) =>
    new ApiError('service_unavailable', `${service} does not answer now; try again`, { cause })

  return {
    name: `calls to ${service}`,
    async send(request) {
      const { method, traceparent } = request
      const { statusCode: status, body } = await inCallSpan({ service, method, traceparent }, (trace) =>
        answerTo(request, trace),
      ).catch((error: unknown) => {
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
