import { ApiError, ERROR_STATUS, type ErrorCode, errorReasonIn } from '@backoffice/contracts/errors.ts'
import type { ServiceName } from '@backoffice/contracts/services.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { FairSlots, type SlotLimits, type SlotRefusal } from '@backoffice/runtime/fair-slots.ts'
import type { Pool } from 'undici'
import { z } from 'zod'
import { inCallSpan } from './call-span.ts'
import { INTERNAL_TOKEN_HEADER, type RequestContext } from './internal-token.ts'
import { readAnswer } from './read-answer.ts'
import { servicePool } from './service-pool.ts'
import type { CallingFor, TokenSigner } from './token-signer.ts'

export interface InternalRequest {
  readonly caller: CallingFor & Partial<Pick<RequestContext, 'requestId' | 'traceparent'>>
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: `/internal/${string}`
  readonly query?: Readonly<Record<string, unknown>>
  /** Sent as JSON; a string is JSON already. */
  readonly body?: unknown
  /** Sent to an operation that hands it on; one that stores its answers would answer by it. */
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal
  /** Whose slot it takes where slots are shared; its workspace unless given. */
  readonly owner?: string
}

/** How owners share the calls to a service. */
export interface CallShares {
  /** As many calls are under way; `waitMs` is shorter than `deadlineMs`. */
  readonly slots: SlotLimits
  /** The error for a call that finds no slot, and is not sent. */
  readonly refuse: (why: SlotRefusal) => Error
  /** For the whole call, in milliseconds: the wait for a slot and the reading of the answer are part of it. */
  readonly deadlineMs: number
  /** For each wait for the service, in milliseconds; the whole call's unless given. */
  readonly answerMs?: number
}

interface UnsharedCalls {
  /** As many calls are under way. Others wait in one queue, without limit: those for clients need shares. */
  readonly connections: number
  /** For each wait for the service, in milliseconds: not for a connection, nor for the whole answer. */
  readonly answerMs: number
}

const UNSHARED: UnsharedCalls = { connections: 16, answerMs: 5000 }

/** An answer, whatever its status; `body` is undefined without one. */
export interface InternalAnswer {
  readonly statusCode: number
  readonly body: unknown
  /** Of a refusal (OP-265). */
  readonly errorReason: unknown
}

const Refusal = z.object({
  error: z.object({ code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode]), message: z.string() }),
})

/** Calls to the internal operations of one service, over kept-alive connections. */
export class InternalCalls implements Component {
  readonly name: string
  readonly #service: ServiceName
  readonly #signer: TokenSigner
  readonly #pool: Pool
  readonly #shares?: CallShares & { readonly fair: FairSlots }

  constructor(service: ServiceName, url: string, signer: TokenSigner, limits: CallShares | UnsharedCalls = UNSHARED) {
    this.name = `calls to ${service}`
    this.#service = service
    this.#signer = signer
    const isShared = 'slots' in limits
    const connections = isShared ? limits.slots.slots : limits.connections
    const answerMs = isShared ? (limits.answerMs ?? limits.deadlineMs) : limits.answerMs
    this.#pool = servicePool(url, { connections, connectMs: answerMs, answerMs })
    if (isShared) this.#shares = { ...limits, fair: new FairSlots(limits.slots, limits.refuse) }
  }

  /**
   * Sends a request and returns the body of a successful answer (null: none). Throws the refusal of the service, also
   * its `service_unavailable`, which says what is away; another one when there is no answer in time or none to read.
   * Throws as `request` when it is not sent.
   */
  send<Answer = undefined>(request: InternalRequest & { readonly answer: z.ZodType<Answer> | null }): Promise<Answer> {
    return this.#inTurn(request, (inTime) => this.#send(inTime))
  }

  /**
   * Sends a request and returns its answer. Throws when there is none in time, or none that is JSON. Where slots are
   * shared, throws the error of `refuse` or the reason of `signal` when it is not sent.
   */
  request(request: InternalRequest): Promise<InternalAnswer> {
    return this.#inTurn(request, (inTime) => this.#exchange(inTime))
  }

  #inTurn<Request extends InternalRequest, Result>(
    request: Request,
    call: (request: Request) => Promise<Result>,
  ): Promise<Result> {
    if (this.#shares === undefined) return call(request)
    const { fair, deadlineMs } = this.#shares
    const { signal, owner = request.caller.workspaceId } = request
    const inTime = AbortSignal.timeout(deadlineMs)
    const timed = { ...request, signal: signal ? AbortSignal.any([signal, inTime]) : inTime }
    return fair.run(owner, () => call(timed), signal && { signal })
  }

  async #send<Answer>(request: InternalRequest & { readonly answer: z.ZodType<Answer> | null }): Promise<Answer> {
    const { statusCode, body, errorReason } = await this.#exchange(request).catch((error: unknown) =>
      this.#isUnavailable(error),
    )
    if (statusCode >= 200 && statusCode < 300) {
      try {
        return readAnswer<unknown>(request.answer ?? z.undefined(), body) as Answer
      } catch (error) {
        this.#isUnavailable(error)
      }
    }
    const { data: refusal } = Refusal.safeParse(body)
    const isRefusal = statusCode < 500 || refusal?.error.code === 'service_unavailable'
    if (!isRefusal || refusal === undefined)
      return this.#isUnavailable(new Error(`${this.#service} answered ${statusCode}`))
    const { code, message } = refusal.error
    throw new ApiError(code, message, { errorReason: errorReasonIn(code, errorReason) })
  }

  #exchange(request: InternalRequest): Promise<InternalAnswer> {
    const { caller, method, path, query, body, idempotencyKey, signal } = request
    const { requestId, traceparent } = caller
    return inCallSpan({ service: this.#service, method, traceparent }, async (trace) => {
      const answer = await this.#pool.request({
        method,
        path,
        ...(query && { query }),
        headers: {
          [INTERNAL_TOKEN_HEADER]: await this.#signer.ownCall(caller, this.#service, currentTime()),
          ...trace,
          ...(requestId !== undefined && { 'x-request-id': requestId }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal && { signal }),
      })
      const text = await answer.body.text()
      return {
        statusCode: answer.statusCode,
        body: text === '' ? undefined : JSON.parse(text),
        errorReason: answer.headers['error-reason'],
      }
    })
  }

  async stop(): Promise<void> {
    await this.#pool.close()
  }

  #isUnavailable(cause: unknown): never {
    throw new ApiError('service_unavailable', `${this.#service} does not answer now; try again`, { cause })
  }
}
