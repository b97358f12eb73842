import { PLATFORM } from '@backoffice/contracts/app.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import {
  ROUTED_SERVICES,
  type RoutedService,
  type ServiceName,
  type UrlSetting,
  urlSetting,
} from '@backoffice/contracts/services.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { InternalCalls, type InternalRequest } from '@backoffice/http/internal-calls.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { z } from 'zod'
import type { AppsRequest } from './apps-client.ts'
import { EACH_ANSWER_MS } from './ask-service.ts'

/** The time for an answer, in milliseconds: longer than a reading of dead letters, shorter than the admin API's own. */
const ANSWER_MS = 15_000

/** A request about the whole platform. */
export interface ServiceRequest<Answer> extends Pick<InternalRequest, 'method' | 'path' | 'query' | 'body'> {
  readonly answer: z.ZodType<Answer>
}

export type Asking = Pick<AppsRequest<unknown>, 'who' | 'actor' | 'requestId' | 'traceparent'>

/** The services, as operators ask them through the admin API, the gateway itself among them. */
export class ServiceCalls implements Component {
  readonly name = 'service calls'
  readonly #calls: ReadonlyMap<ServiceName, InternalCalls>
  readonly #own: readonly AnyOperation[]

  /** `own` is what the gateway answers. */
  constructor(
    urls: Readonly<Record<UrlSetting<RoutedService>, string>>,
    signer: TokenSigner,
    own: readonly AnyOperation[],
  ) {
    const callsTo = (name: RoutedService) =>
      new InternalCalls(name, urls[urlSetting(name)], signer, { connections: 4, answerMs: ANSWER_MS })
    this.#calls = new Map(ROUTED_SERVICES.map((name) => [name, callsTo(name)]))
    this.#own = own
  }

  /** Asks one. Throws its refusal, or `service_unavailable` with what to do. */
  async ask<Answer>(
    service: ServiceName,
    { answer, ...request }: ServiceRequest<Answer>,
    asking: Asking,
    withinMs = ANSWER_MS,
  ): Promise<Answer> {
    const calls = this.#calls.get(service)
    if (calls === undefined) return answerWithin(withinMs, this.#askOwn(request, answer)).catch(unlessRefused(service))
    const { who, actor, requestId, traceparent } = asking
    const caller = {
      ...{ workspaceId: PLATFORM, livemode: true, keyId: actor, who },
      ...{ productStatuses: [], requestId, traceparent },
    }
    return calls.send({ ...request, caller, answer, signal: AbortSignal.timeout(withinMs) }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
      const reason = `${service} runs a version that does not answer this yet; try again when its deploy is over`
      throw new ApiError('service_unavailable', reason, { cause: error })
    })
  }

  /** Asks several at once. One that does not answer is named, with the reason. */
  async askEach<Answer extends object>(
    services: readonly ServiceName[],
    request: ServiceRequest<Answer>,
    asking: Asking,
  ) {
    const asked = await Promise.all(
      services.map((service) =>
        this.ask(service, request, asking, EACH_ANSWER_MS).then(
          (answer) => ({ service, answer }),
          (error: ApiError) => ({ service, reason: error.message }),
        ),
      ),
    )
    return {
      answers: asked.flatMap((one) => ('answer' in one ? [one] : [])),
      unanswered: asked.flatMap((one) => ('reason' in one ? [one] : [])),
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#calls.values()].map((calls) => calls.stop()))
  }

  async #askOwn<Answer>(
    { method, path, query = {}, body }: Omit<ServiceRequest<Answer>, 'answer'>,
    answer: z.ZodType<Answer>,
  ): Promise<Answer> {
    const own = this.#own.find((one) => one.method === method && one.path === path)
    if (own === undefined) throw new Error(`the gateway does not answer ${method} ${path}`)
    const valid = {
      query: own.query && validate(own.query, query, 'query'),
      body: own.body && validate(own.body, body, 'body'),
    }
    const reply = await own.handle(valid as never)
    return answer.parse(JSON.parse(JSON.stringify(reply.body)))
  }
}

const unlessRefused = (service: ServiceName) => (cause: unknown) => {
  if (cause instanceof ApiError) throw cause
  throw new ApiError('service_unavailable', `${service} does not answer now; try again`, { cause })
}
