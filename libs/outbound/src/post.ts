import { deadline } from '@backoffice/runtime/deadline.ts'
import type { Dispatcher } from 'undici'
import { type Failure, failureOf, failureOfStatus } from './failure.ts'

/** How much of a response body is kept unless the caller says otherwise (OP-66). */
const CAPTURED_BYTES = 16 * 1024
const NOTHING = Buffer.alloc(0)

export interface Outgoing {
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: Buffer
}

export interface Limits {
  /** The response must be complete, or as much of it read as is kept, within this many milliseconds. */
  readonly timeoutMs: number
  /** How much of the response body is kept; 16 KiB unless given, and at most 512 KiB. */
  readonly keptBytes?: number
  /** Ends the exchange when it is aborted. */
  readonly signal?: AbortSignal
  /** Asked once there is a connection: false ends the exchange before anything is sent. */
  mayBegin?(): boolean
}

export interface Captured {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Buffer
  /** Whether the other side sent more than was kept. */
  readonly isTruncated: boolean
}

/** How it went: no failure means a 2xx response that came in time. */
export type Exchange = { readonly durationMs: number } & (
  | { readonly response: Captured; readonly failure: null }
  | { readonly response: Captured | null; readonly failure: Failure }
)

/**
 * Sends one POST. Never throws: whatever goes wrong is the exchange's failure, a redirect too. What comes after the
 * bytes that are kept is not read, so a response without end costs nothing.
 */
export function post(agent: Dispatcher, { url, headers, body }: Outgoing, limits: Limits): Promise<Exchange> {
  return new Promise((resolve) => {
    const capture = new Capture(limits, resolve)
    if (limits.signal?.aborted) return capture.abort()
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
  readonly #timeoutMs: number
  readonly #clearTimeout: () => void
  readonly #keptBytes: number
  readonly #signal: AbortSignal | undefined
  readonly #mayBegin: Limits['mayBegin']
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #status = 0
  #headers: Captured['headers'] = {}
  #body = NOTHING
  #bytes = 0
  #isTruncated = false

  constructor({ timeoutMs, keptBytes = CAPTURED_BYTES, signal, mayBegin }: Limits, done: (exchange: Exchange) => void) {
    this.#done = done
    this.#timeoutMs = timeoutMs
    this.#keptBytes = keptBytes
    this.#signal = signal
    this.#mayBegin = mayBegin
    signal?.addEventListener('abort', this.abort)
    this.#clearTimeout = deadline(timeoutMs, () => this.#timeOut())
  }

  readonly abort = (): void => {
    this.#end(failureOf(new Error('the request was aborted')))
    this.#hangUp()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // After a standstill the connection may be there before the deadline is missed.
    if (performance.now() - this.#startedAt >= this.#timeoutMs) this.#timeOut()
    this.#controller = controller
    if (this.#isOver) this.#hangUp()
    else if (this.#mayBegin?.() === false) this.abort()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Captured['headers']): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#isTruncated = chunk.length > this.#keptBytes - this.#bytes
    this.#keep(chunk.subarray(0, this.#keptBytes - this.#bytes))
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

  /** Copies, to hold neither the socket's much larger buffer nor an object per byte of a body sent byte by byte. */
  #keep(part: Buffer): void {
    if (this.#bytes === 0) {
      this.#body = Buffer.from(part)
    } else {
      if (this.#body.length < this.#keptBytes) this.#body = Buffer.concat([this.#body], this.#keptBytes)
      part.copy(this.#body, this.#bytes)
    }
    this.#bytes += part.length
  }

  get #whatIsMissing(): string {
    if (this.#controller === undefined) return 'no connection'
    return this.#status >= 200 ? 'no complete response' : 'no response'
  }

  #end(failure: Failure | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#clearTimeout()
    this.#signal?.removeEventListener('abort', this.abort)
    const response = {
      status: this.#status,
      headers: this.#headers,
      body: this.#body.subarray(0, this.#bytes),
      isTruncated: this.#isTruncated,
    }
    const durationMs = Math.round(performance.now() - this.#startedAt)
    if (failure === null) this.#done({ durationMs, response, failure })
    else this.#done({ durationMs, response: this.#status >= 200 ? response : null, failure })
  }

  #timeOut(): void {
    this.#end({ class: 'timeout', message: `${this.#whatIsMissing} within ${this.#timeoutMs} ms` })
    this.#hangUp()
  }

  /** Closes the connection. While the request still waits for one, `onRequestStart` closes it later. */
  #hangUp(): void {
    this.#controller?.abort(new Error('hung up'))
  }
}
