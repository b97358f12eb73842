import { type buildConnector, Dispatcher, errors } from 'undici'
import { Connection } from './connection.ts'
import type { KeptConnections } from './kept-connections.ts'

/**
 * The connections to one origin. A request takes the one that became idle last, or a new one: it never waits. The
 * caller limits the number of requests, since it knows which endpoints share an origin.
 */
export class OriginConnections extends Dispatcher {
  readonly #origin: string | URL
  readonly #connect: buildConnector.connector
  readonly #kept: KeptConnections
  readonly #all = new Set<Connection>()
  readonly #idle: Connection[] = []

  constructor(origin: string | URL, connect: buildConnector.connector, kept: KeptConnections) {
    super()
    this.#origin = origin
    this.#connect = connect
    this.#kept = kept
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const connection = this.#idle.pop() ?? this.#add()
    this.#kept.noteBusy(connection)
    connection.client.dispatch(options, new RequestOnConnection(handler, connection, () => this.#release(connection)))
    return true
  }

  override async close(): Promise<void> {
    for (const connection of this.#all) connection.drop()
  }

  override async destroy(reason?: Error | (() => void) | null): Promise<void> {
    const error = reason instanceof Error ? reason : new errors.ClientDestroyedError()
    await Promise.all([...this.#all].map(({ client }) => client.destroy(error)))
  }

  #add(): Connection {
    const connection = new Connection(this.#origin, this.#connect, (dropped) => this.#forget(dropped))
    // Only for a connection that is lost while idle. A loss during a request is the failure of that request.
    connection.client.on('disconnect', () => {
      if (this.#idle.includes(connection)) connection.drop()
    })
    this.#all.add(connection)
    return connection
  }

  #release(connection: Connection): void {
    const { perOrigin, ageMs } = this.#kept.limits
    if (connection.age >= ageMs || this.#idle.length >= perOrigin) {
      connection.drop()
    } else {
      this.#idle.push(connection)
      this.#kept.noteIdle(connection)
    }
  }

  #forget(connection: Connection): void {
    this.#kept.noteDropped(connection)
    this.#all.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    // The event makes the agent forget this origin.
    if (this.#all.size === 0)
      this.emit('disconnect', new URL(this.#origin), [this], new errors.InformationalError('idle'))
  }
}

/** A request on its connection, which is free after a complete response and dropped after any other. */
class RequestOnConnection implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler
  readonly #connection: Connection
  readonly #release: () => void

  constructor(handler: Dispatcher.DispatchHandler, connection: Connection, release: () => void) {
    this.#handler = handler
    this.#connection = connection
    this.#release = release
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#connection.requestStarts()
    this.#handler.onRequestStart?.(controller, context)
  }

  onResponseStart(...response: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.#handler.onResponseStart?.(...response)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(...end: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.#release()
    this.#handler.onResponseEnd?.(...end)
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#connection.drop()
    this.#handler.onResponseError?.(controller, error)
  }
}
