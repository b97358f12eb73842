import type { Connection } from './connection.ts'
import { SendingError } from './failure.ts'

const LOOK_EVERY_MS = 250

export interface KeepLimits {
  /** Idle connections to one origin, and to all of them. */
  readonly perOrigin: number
  readonly inAll: number
  /** How old a connection may be when it becomes idle. */
  readonly ageMs: number
}

/** The connections of all origins: limits how many are kept idle, and watches over the busy ones. */
export class KeptConnections {
  readonly limits: KeepLimits
  /** The one that has been idle for longest comes first. */
  readonly #idle = new Set<Connection>()
  readonly #busy = new Set<Connection>()
  #watch: NodeJS.Timeout | undefined

  constructor(limits: KeepLimits) {
    this.limits = limits
  }

  noteBusy(connection: Connection): void {
    this.#idle.delete(connection)
    this.#busy.add(connection)
    this.#watch ??= setInterval(() => this.#endEndlessResponses(), LOOK_EVERY_MS).unref()
  }

  noteIdle(connection: Connection): void {
    this.#busy.delete(connection)
    this.#idle.add(connection)
    if (this.#idle.size <= this.limits.inAll) return
    const [longest] = this.#idle
    longest?.drop()
  }

  noteDropped(connection: Connection): void {
    this.#idle.delete(connection)
    this.#busy.delete(connection)
  }

  /** Ends responses that are endless without a body: by informational responses, chunk extensions, reason phrases. */
  #endEndlessResponses(): void {
    for (const connection of this.#busy) {
      if (!connection.hasReadTooMuch) continue
      void connection.client.destroy(new SendingError('connection', 'sent 1 MiB and the response was not complete'))
    }
    if (this.#busy.size > 0) return
    clearInterval(this.#watch)
    this.#watch = undefined
  }
}
