import { setTimeout as pause } from 'node:timers/promises'
import { ROUTED_SERVICES, type RoutedService, type UrlSetting, urlSetting } from '@backoffice/contracts/services.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { type Dispatcher, Pool } from 'undici'
import { isSafeToRepeat, refusalOf, tooBusy } from './upstream-errors.ts'

/** A request to a service. A second attempt gets the same `body`, which the first one has not read. */
interface UpstreamRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: AsyncIterable<Buffer> | undefined
  readonly signal?: AbortSignal
}

/** The gateway's connections to a service. */
export interface Upstream extends Component {
  /**
   * Sends a request and resolves when the answer's head is there; its body must be read or destroyed. Throws
   * `service_unavailable` when the service cannot be reached, `gateway_timeout` when it does not answer in time.
   */
  send(request: UpstreamRequest): Promise<Dispatcher.ResponseData>
}

const CONNECTIONS = ['requests', 'files', 'events'] as const
/**
 * The kinds of connections to a service. Files may be slow and server-sent events go on for as long as the client likes, so
 * neither takes a place of the others.
 */
export type Connections = (typeof CONNECTIONS)[number]

/** Every service with routes, over each kind of connections. */
export type Upstreams = Readonly<Record<RoutedService, Readonly<Record<Connections, Upstream>>>>

/** Time limits in milliseconds, and the number of simultaneous requests. */
export interface UpstreamLimits {
  readonly connectMs: number
  /** From the request's last byte to the answer's head, and between two chunks of the answer's body. */
  readonly answerMs: number
  /** Requests under way at most. One more is refused at once and does not wait. */
  readonly underWay: number
}

const REQUESTS: UpstreamLimits = { connectMs: 2_000, answerMs: 20_000, underWay: 512 }
const LIMITS: Readonly<Record<Connections, UpstreamLimits>> = {
  requests: REQUESTS,
  // The catalog lets an image wait for up to 30 s and processes it for up to 40 s.
  files: { ...REQUESTS, answerMs: 75_000 },
  // A service sends something every 10 s.
  events: { ...REQUESTS, answerMs: 30_000 },
}

/** Pauses before another attempt, in milliseconds: enough for a service that restarts, short for a caller. */
const RETRY_PAUSES = [50, 200]

/** Opens kept-alive connections to a service. Each carries one request at a time, so that no request waits for another. */
function openUpstream(name: string, url: string, limits: UpstreamLimits): Upstream {
  const pool = new Pool(url, {
    connections: limits.underWay,
    pipelining: 1,
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.answerMs,
    bodyTimeout: limits.answerMs,
  })
  let underWay = 0
  const done = () => {
    underWay--
  }

  async function attempt(request: UpstreamRequest): Promise<Dispatcher.ResponseData> {
    for (let attempts = 0; ; attempts++) {
      try {
        return await pool.request(request as Dispatcher.RequestOptions)
      } catch (error) {
        const wait = RETRY_PAUSES[attempts]
        if (wait === undefined || !isSafeToRepeat(error, request.method)) throw refusalOf(error, name)
        await pause(wait, undefined, { signal: request.signal })
      }
    }
  }

  return {
    name,
    async send(request) {
      if (underWay >= limits.underWay) throw tooBusy(name)
      underWay++
      try {
        const answer = await attempt(request)
        answer.body.once('close', done)
        return answer
      } catch (error) {
        done()
        throw error
      }
    },
    async stop() {
      await pool.close()
    },
  }
}

/** Opens connections to every service with routes; `urls` are the gateway's settings. */
export function openUpstreams(
  urls: Readonly<Record<UrlSetting<RoutedService>, string>>,
  limits: Readonly<Record<Connections, UpstreamLimits>> = LIMITS,
): Upstreams {
  const openAll = (name: RoutedService) =>
    Object.fromEntries(CONNECTIONS.map((kind) => [kind, openUpstream(name, urls[urlSetting(name)], limits[kind])]))
  return Object.fromEntries(ROUTED_SERVICES.map((name) => [name, openAll(name)])) as Upstreams
}

/** All connections, as components of the process. */
export const componentsOf = (upstreams: Upstreams): Component[] =>
  Object.values(upstreams).flatMap((connections) => Object.values(connections))
