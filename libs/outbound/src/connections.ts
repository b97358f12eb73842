import type { Socket } from 'node:net'
import { type buildConnector, Client, Dispatcher, errors } from 'undici'
import { SendingError } from './failure.ts'

const MIB = 1024 * 1024
const LOOK_EVERY_MS = 250

const OPTIONS: Client.Options = {
  // HTTP/1.1 alone, with one request on a connection: a request that breaks or hangs affects no other.
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: 16 * 1024,
  // The caller limits the whole exchange.
  headersTimeout: 0,
  bodyTimeout: 0,
  // Most receivers keep idle connections for longer. The time in a receiver's Keep-Alive header is used, up to a
  // minute.
  keepAliveTimeout: 4000,
  keepAliveMaxTimeout: 60_000,
}

export interface KeepLimits {
  /** Idle connections to one origin, and to all of them. */
  readonly perOrigin: number
  readonly inAll: number
  /** How old a connection may be when it becomes idle. */
  readonly ageMs: number
  /** A longer response is ended: far above the headers and the body that are read, even in tiny chunks. */
  readonly responseMiB: number
}

/**
 * Connections to any number of origins. A request takes the one to its origin that became idle last, or a new one: it
 * never waits. When the other side has closed the idle one instead of answering, the request is sent once more, on a
 * new one: it may arrive twice, and its body is no stream. The caller limits the number of requests, since it knows
 * which endpoints share an origin.
 */
export class Connections extends Dispatcher {
  readonly #connect: buildConnector.connector
  readonly #limits: KeepLimits
  /** The one that has been idle for longest comes first. */
  readonly #idle = new Set<Connection>()
  /** The same by origin. */
  readonly #idleTo = new Map<string, Connection[]>()
  readonly #busy = new Set<Connection>()
  #watch: NodeJS.Timeout | undefined
  #isDestroyed = false

  constructor(connect: buildConnector.connector, limits: KeepLimits) {
    super()
    this.#connect = connect
    this.#limits = limits
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#isDestroyed) throw new errors.ClientDestroyedError()
    const origin = String(options.origin)
    this.#send(this.#idleTo.get(origin)?.at(-1) ?? this.#open(origin), options, handler)
    return true
  }

  #send(connection: Connection, options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#forget(connection)
    this.#busy.add(connection)
    this.#watch ??= setInterval(() => this.#endEndlessResponses(), LOOK_EVERY_MS).unref()
    connection.send(options, handler, () => {
      if (this.#isDestroyed) return false
      this.#send(this.#open(connection.origin), options, handler)
      return true
    })
  }

  override async destroy(reason?: Error | (() => void) | null): Promise<void> {
    this.#isDestroyed = true
    const error = reason instanceof Error ? reason : new errors.ClientDestroyedError()
    await Promise.all([...this.#idle, ...this.#busy].map(({ client }) => client.destroy(error)))
  }

  #open(origin: string): Connection {
    const connection = new Connection(origin, this.#connect, this.#limits.responseMiB * MIB, (isComplete) => {
      if (isComplete) this.#keep(connection)
      else this.#drop(connection)
    })
    // Only for a connection that is lost while idle. A loss during a request is the failure of that request.
    connection.client.on('disconnect', () => {
      if (this.#idle.has(connection)) this.#drop(connection)
    })
    return connection
  }

  #keep(connection: Connection): void {
    const { perOrigin, inAll, ageMs } = this.#limits
    const others = this.#idleTo.get(connection.origin) ?? []
    if (connection.age >= ageMs || others.length >= perOrigin) return void this.#drop(connection)
    this.#busy.delete(connection)
    this.#idle.add(connection)
    this.#idleTo.set(connection.origin, others)
    others.push(connection)
    const [longest] = this.#idle
    if (longest !== undefined && this.#idle.size > inAll) this.#drop(longest)
  }

  /** Closes a connection for good once its request, if it has one, is over. */
  #drop(connection: Connection): void {
    this.#forget(connection)
    connection.client.close(() => undefined)
  }

  #forget(connection: Connection): void {
    this.#busy.delete(connection)
    if (!this.#idle.delete(connection)) return
    const others = this.#idleTo.get(connection.origin) ?? []
    others.splice(others.lastIndexOf(connection), 1)
    if (others.length === 0) this.#idleTo.delete(connection.origin)
  }

  /** Ends responses that are endless without a body: by informational responses, chunk extensions, reason phrases. */
  #endEndlessResponses(): void {
    for (const { hasReadTooMuch, client } of this.#busy) {
      if (!hasReadTooMuch) continue
      const sent = `sent ${this.#limits.responseMiB} MiB`
      void client.destroy(new SendingError('connection', `${sent} and the response was not complete`))
    }
    if (this.#busy.size > 0) return
    clearInterval(this.#watch)
    this.#watch = undefined
  }
}

/**
 * One connection to an origin, made when its first request comes and made again when it was lost while idle. It has one
 * request at a time.
 */
class Connection {
  readonly origin: string
  readonly client: Client
  readonly #readAtMost: number
  readonly #onEnd: (isComplete: boolean) => void
  readonly #openedAt = performance.now()
  #socket: Socket | undefined
  /** Whether the socket has had a response. */
  #isUsed = false
  #readBefore = 0

  /** `onEnd` is called when a request is over: after a complete response the connection is free. */
  constructor(
    origin: string,
    connect: buildConnector.connector,
    readAtMost: number,
    onEnd: (isComplete: boolean) => void,
  ) {
    this.origin = origin
    this.#readAtMost = readAtMost
    this.#onEnd = onEnd
    this.client = new Client(origin, {
      ...OPTIONS,
      connect: (options: buildConnector.Options, callback: buildConnector.Callback) =>
        connect(options, (...outcome) => {
          this.#socket = outcome[1] ?? undefined
          this.#isUsed = false
          callback(...outcome)
        }),
    })
  }

  /** Milliseconds since this object was made. */
  get age(): number {
    return performance.now() - this.#openedAt
  }

  /** Whether the response is longer than it may be, in bytes. */
  get hasReadTooMuch(): boolean {
    return this.#socket !== undefined && this.#socket.bytesRead - this.#readBefore > this.#readAtMost
  }

  /**
   * `sendAgain` is called when the other side has closed a socket that was used before, and nothing came back. The
   * error is reported unless it returns true.
   */
  send(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, sendAgain: () => boolean): void {
    // The other side may reset the connection before the request starts.
    this.#readBefore = this.#socket?.bytesRead ?? 0
    this.client.dispatch(options, {
      onRequestStart: (...start) => {
        this.#readBefore = this.#socket?.bytesRead ?? 0
        handler.onRequestStart?.(...start)
      },
      onResponseStart: (...response) => handler.onResponseStart?.(...response),
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => {
        this.#isUsed = true
        this.#onEnd(true)
        handler.onResponseEnd?.(...end)
      },
      onResponseError: (controller, error) => {
        this.#onEnd(false)
        const isUnanswered = this.#isUsed && this.#socket?.bytesRead === this.#readBefore
        if (isUnanswered && isClosedByOther(error) && sendAgain()) return
        handler.onResponseError?.(controller, error)
      },
    })
  }
}

const isClosedByOther = (error: Error): boolean =>
  'code' in error && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(error.code))
