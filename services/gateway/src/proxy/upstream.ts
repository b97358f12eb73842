import { setTimeout as pause } from 'node:timers/promises'
import type { Part } from '@backoffice/runtime/process.ts'
import { type Dispatcher, Pool } from 'undici'
import { isSafeToRepeat, refusalOf, tooBusy } from './upstream-errors.ts'

/** A request to a service. `body` is asked for at each attempt and must be untouched until it is read. */
interface UpstreamRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: AsyncIterable<Buffer> | undefined
  readonly signal?: AbortSignal
}

/** A service as the gateway reaches it. */
export interface Upstream extends Part {
  /**
   * Sends a request and resolves when the answer's head is there; its body must be read or destroyed. Throws
   * `service_unavailable` when the service cannot be reached, `gateway_timeout` when it does not answer in time.
   */
  send(request: UpstreamRequest): Promise<Dispatcher.ResponseData>
}

/** How long a service is waited for, and how much it is sent at once. */
export interface UpstreamLimits {
  readonly connectMs: number
  /** From the request's last byte to the answer's head, and between two parts of the answer's body. */
  readonly answerMs: number
  /** Requests under way; one more is refused at once rather than kept waiting behind them. */
  readonly underWay: number
}

const LIMITS: UpstreamLimits = { connectMs: 2_000, answerMs: 20_000, underWay: 512 }
/** For files: an image waits up to 30 s for its turn and is then worked on for up to 40 s. */
export const FILE_UPSTREAM: UpstreamLimits = { ...LIMITS, answerMs: 75_000 }

/** Pauses before sending again, in milliseconds: long enough for a service that is being restarted, short for a caller. */
const RETRY_PAUSES = [50, 200]

/** Opens a pool of kept-alive connections to a service, one request at a time on each, so that none waits for another. */
export function openUpstream(name: string, url: string, limits = LIMITS): Upstream {
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
