import { setTimeout as pause } from 'node:timers/promises'
import { ROUTED_SERVICES, type RoutedService, type UrlSetting, urlSetting } from '@backoffice/contracts/services.ts'
import { type PoolLimits, servicePool } from '@backoffice/http/service-pool.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { FairSlots, type SlotLimits, type TakeOptions } from '@backoffice/runtime/fair-slots.ts'
import { upDownCounter } from '@backoffice/runtime/metrics.ts'
import type { Dispatcher, Pool } from 'undici'
import { pausesBefore, refusalOf, tooBusy } from './upstream-errors.ts'

/** A request to a service. A second attempt gets the same `body`: of a stream the first has read nothing. */
interface UpstreamRequest {
  /** Whose slot it takes: its workspace, its client's address where there is no key, or the gateway itself. */
  readonly owner: string
  /** The key that asks; none where none of its owner does. */
  readonly key?: string | undefined
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: Buffer | AsyncIterable<Buffer> | undefined
  readonly signal?: AbortSignal
  /** Milliseconds for the answer's head, unless as for all over these connections. */
  readonly headersTimeout?: number | undefined
}

const CONNECTIONS = ['requests', 'files', 'events', 'public'] as const
/**
 * The kinds of connections to a service. Each has slots of its own: files may be slow, server-sent events go on for as
 * long as the client likes, and public files are open to clients without a key.
 */
export type Connections = (typeof CONNECTIONS)[number]

export type Upstreams = Readonly<Record<RoutedService, Readonly<Record<Connections, Upstream>>>>

export interface UpstreamLimits extends Omit<PoolLimits, 'connections'> {
  /** How owners share the requests under way. A slot is free again when the client has the answer, or is taken over. */
  readonly slots: SlotLimits
}

/** More would wait for database connections. A burst of a key (OP-06) may wait for slots (OP-161). */
const SLOTS: SlotLimits = { slots: 144, share: 32, keyShare: 16, waiting: 256, waitMs: 5_000, takeOverMs: 1_000 }
const REQUESTS: UpstreamLimits = { connectMs: 2_000, answerMs: 20_000, slots: SLOTS }
/**
 * A file takes the event loops of gateway and service for as long as the kernel takes its bytes. 200 at once delayed
 * others by seconds, 24 by a few milliseconds (measured), so a key has 32 at most.
 */
const FILES: SlotLimits = { ...SLOTS, slots: 128, share: 16, most: 40, keyShare: 8 }
const LIMITS: Readonly<Record<Connections, UpstreamLimits>> = {
  requests: REQUESTS,
  // The catalog lets an image wait for up to 30 s and processes it for up to 40 s. Files to import have their own time.
  files: { ...REQUESTS, answerMs: 75_000, slots: FILES },
  // A service sends something every 10 s.
  events: { ...REQUESTS, answerMs: 30_000, slots: { ...SLOTS, slots: 528 } },
  public: { ...REQUESTS, slots: { ...FILES, most: 32, keyShare: 0 } },
}

const active = upDownCounter(
  'upstream_requests_active',
  'Requests that have a slot of a service, by kind of connection',
)
const waiting = upDownCounter(
  'upstream_requests_waiting',
  'Requests that wait for a slot of a service, by kind of connection',
)

/** The connections of a kind to a service. */
export class Upstream implements Component {
  readonly name: string
  readonly #pool: Pool
  readonly #slots: FairSlots
  readonly #labels: { readonly upstream: string; readonly kind: Connections }

  constructor(name: string, url: string, kind: Connections, { slots, ...timeouts }: UpstreamLimits) {
    this.name = name
    this.#labels = { upstream: name, kind }
    this.#slots = new FairSlots(slots, tooBusy(name, kind === 'public' ? 'address' : 'workspace'))
    this.#pool = servicePool(url, { ...timeouts, connections: slots.slots })
  }

  /**
   * Sends a request as soon as its owner has a slot, and resolves when the answer's head is there; its body must be
   * read or destroyed. Throws, as its body fails, `rate_limited` when its owner has too many requests under way,
   * `service_unavailable` when all have, or when the service cannot be reached, and `gateway_timeout` when it does not
   * answer in time. Another owner may take over the slot of a request that waits for its client alone: an upload that
   * still arrives, or an answer that is being sent. Between the two it keeps the slot, since the service may be doing
   * what it asks for.
   */
  async send(request: UpstreamRequest): Promise<Dispatcher.ResponseData> {
    waiting.add(1, this.#labels)
    const ended = new AbortController()
    const { owner, key, signal, body } = request
    const upload = Buffer.isBuffer(body) ? undefined : body
    const slot: TakeOptions = {
      key,
      ...(signal && { signal }),
      onTakenOver: upload && ((refusal) => ended.abort(refusal)),
    }
    let isAnswered = false
    async function* arriving(chunks: AsyncIterable<Buffer>) {
      yield* chunks
      // A service may also answer before the end.
      if (!isAnswered) slot.onTakenOver = undefined
    }
    const giveBack = await this.#slots.take(owner, slot).finally(() => waiting.add(-1, this.#labels))
    active.add(1, this.#labels)
    const free = () => {
      giveBack()
      active.add(-1, this.#labels)
    }
    try {
      const signals = signal ? [signal, ended.signal] : [ended.signal]
      const answer = await this.#attempt(
        upload ? { ...request, body: arriving(upload), signal: AbortSignal.any(signals) } : request,
      )
      isAnswered = true
      const { body: content } = answer
      slot.onTakenOver = (refusal) => void content.destroy(refusal)
      content.once('close', free)
      // Whoever reads it learns why it breaks off as it learns why there is no answer.
      const end = content.destroy.bind(content)
      content.destroy = (error) => end(error && refusalOf(error, this.name))
      return answer
    } catch (error) {
      free()
      throw error
    }
  }

  async stop(): Promise<void> {
    await this.#pool.close()
  }

  async #attempt(request: UpstreamRequest): Promise<Dispatcher.ResponseData> {
    for (let attempts = 0; ; attempts++) {
      try {
        return await this.#pool.request(request as Dispatcher.RequestOptions)
      } catch (error) {
        const wait = pausesBefore(error, request.method)[attempts]
        if (wait === undefined) throw refusalOf(error, this.name)
        await pause(wait, undefined, { signal: request.signal })
      }
    }
  }
}

/** Opens connections to every service with routes; `urls` are the gateway's settings. */
export function openUpstreams(
  urls: Readonly<Record<UrlSetting<RoutedService>, string>>,
  limits: Readonly<Record<Connections, UpstreamLimits>> = LIMITS,
): Upstreams {
  const openAll = (name: RoutedService) =>
    Object.fromEntries(
      CONNECTIONS.map((kind) => [kind, new Upstream(name, urls[urlSetting(name)], kind, limits[kind])]),
    )
  return Object.fromEntries(ROUTED_SERVICES.map((name) => [name, openAll(name)])) as Upstreams
}

/** All connections, as components of the process. */
export const componentsOf = (upstreams: Upstreams): Component[] =>
  Object.values(upstreams).flatMap((connections) => Object.values(connections))
