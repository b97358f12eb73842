import type { Socket } from 'node:net'
import { type buildConnector, Client } from 'undici'

/** A longer response is ended: far above the headers and the body that are read, even in tiny chunks. */
const READ_AT_MOST = 1024 * 1024

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

/** One connection to an origin, made when its first request comes and made again when it was lost while idle. */
export class Connection {
  readonly client: Client
  /** Closes it for good once its request, if it has one, is over. */
  readonly drop: () => void
  readonly #openedAt = performance.now()
  #socket: Socket | undefined
  #readBefore = 0

  constructor(origin: string | URL, connect: buildConnector.connector, onDropped: (connection: Connection) => void) {
    this.client = new Client(origin, {
      ...OPTIONS,
      connect: (options: buildConnector.Options, callback: buildConnector.Callback) =>
        connect(options, (...outcome) => {
          this.#socket = outcome[1] ?? undefined
          callback(...outcome)
        }),
    })
    this.drop = () => {
      onDropped(this)
      this.client.close(() => undefined)
    }
  }

  requestStarts(): void {
    this.#readBefore = this.#socket?.bytesRead ?? 0
  }

  /** Whether the response exceeds READ_AT_MOST. */
  get hasReadTooMuch(): boolean {
    return this.#socket !== undefined && this.#socket.bytesRead - this.#readBefore > READ_AT_MOST
  }

  /** Milliseconds since this object was made. */
  get age(): number {
    return performance.now() - this.#openedAt
  }
}
