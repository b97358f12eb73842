import type { Agent, Dispatcher } from 'undici'
import { type Failure, failureOf, failureOfStatus } from './failure.ts'

/** How much of a response body is kept (OP-66). */
const CAPTURED_BYTES = 16 * 1024

export interface Outgoing {
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: Buffer
}

interface Captured {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Buffer
  /** Whether the receiver sent more than was kept. */
  readonly isTruncated: boolean
}

/** How an attempt went: no failure means delivered. */
export interface Exchange {
  readonly durationMs: number
  readonly response: Captured | null
  readonly failure: Failure | null
}

/**
 * Sends one POST and captures what comes back. Never throws: whatever goes wrong is the exchange's failure. The response
 * must be complete, or its first 16 KiB read, within `timeoutMs` (spec: Retries 1); what comes after is not read.
 */
export function post(agent: Agent, { url, headers, body }: Outgoing, timeoutMs: number): Promise<Exchange> {
  return new Promise((resolve) => {
    const capture = new Capture(timeoutMs, resolve)
    try {
      agent.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body }, capture)
    } catch (error) {
      capture.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)))
    }
  })
}

class Capture implements Dispatcher.DispatchHandler {
  readonly #startedAt = performance.now()
  readonly #done: (exchange: Exchange) => void
  readonly #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #status = 0
  #headers: Captured['headers'] = {}
  #chunks: Buffer[] = []
  #bytes = 0
  #isTruncated = false

  constructor(timeoutMs: number, done: (exchange: Exchange) => void) {
    this.#done = done
    this.#timer = setTimeout(() => {
      this.#end({ class: 'timeout', message: `no complete response within ${timeoutMs} ms` })
      this.#hangUp()
    }, timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) this.#hangUp()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Captured['headers']): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = CAPTURED_BYTES - this.#bytes
    this.#isTruncated = chunk.length > room
    // A copy, so that the socket's much larger read buffer is not held.
    const kept = Buffer.from(chunk.subarray(0, room))
    this.#chunks.push(kept)
    this.#bytes += kept.length
    if (!this.#isTruncated) return
    this.#end(failureOfStatus(this.#status) ?? null)
    this.#hangUp()
  }

  onResponseEnd(): void {
    this.#end(failureOfStatus(this.#status) ?? null)
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(failureOf(error))
  }

  #end(failure: Failure | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    const response = {
      status: this.#status,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks),
      isTruncated: this.#isTruncated,
    }
    const durationMs = Math.round(performance.now() - this.#startedAt)
    this.#done({ durationMs, response: this.#status >= 200 ? response : null, failure })
  }

  /** Closes the connection; before there is one, the request waits for it and is ended when it comes. */
  #hangUp(): void {
    this.#controller?.abort(new Error('hung up'))
  }
}
