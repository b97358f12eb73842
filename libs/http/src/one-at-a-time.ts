import { AsyncResource } from 'node:async_hooks'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

interface Connection {
  /** Whether a request is being handled. */
  isBusy: boolean
  /** Begin the requests that have arrived since. */
  readonly waiting: (() => void)[]
}

const connections = new WeakMap<Socket, Connection>()

/** Whether requests of a connection wait until the one before is answered. */
export const hasWaitingRequests = (socket: Socket): boolean => (connections.get(socket)?.waiting.length ?? 0) > 0

/**
 * Handles the requests of a connection one after the other (OP-303). Node itself handles at once all that a client has
 * sent without waiting for answers (pipelining): some 2,000 in one read, while other connections wait. Here others get
 * their turn in between, and no more is read until the last one that has arrived is handled.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request
    const connection = connections.get(socket) ?? opened(socket)
    const begin = () => {
      // The answer before was the last one of its connection.
      if (!socket.writable) return socket.destroySoon()
      response.once('close', () => beginNext(socket, connection))
      handle(request, response)
    }
    if (!connection.isBusy) {
      connection.isBusy = true
      return begin()
    }
    // In a context of its own: the trace of the request before is not its trace.
    connection.waiting.push(AsyncResource.bind(begin))
    socket.pause()
  }
}

function opened(socket: Socket): Connection {
  const connection: Connection = { isBusy: false, waiting: [] }
  connections.set(socket, connection)
  // Node reads on by itself at the end of each request, and when the client has taken what was sent.
  socket.on('resume', () => {
    if (connection.waiting.length > 0) socket.pause()
  })
  return connection
}

function beginNext(socket: Socket, connection: Connection): void {
  connection.isBusy = connection.waiting.length > 0
  if (!connection.isBusy) return
  setImmediate(() => {
    const begin = connection.waiting.shift()
    if (connection.waiting.length === 0) socket.resume()
    begin?.()
  })
}
