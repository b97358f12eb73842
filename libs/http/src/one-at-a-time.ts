import { AsyncResource } from 'node:async_hooks'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** So many requests of a connection wait at most: each takes some kilobytes, and 64 KiB hold thousands of them. */
export const WAITING_AT_MOST = 64

interface Connection {
  /** Whether a request is being handled. */
  isBusy: boolean
  /** Begin the requests that have arrived since. */
  readonly waiting: (() => void)[]
}

/**
 * Handles the requests of a connection one after the other, and closes a connection on which too many wait (OP-303).
 * Node itself handles at once all that a client has sent without waiting for answers (pipelining), while other
 * connections wait. Here others get their turn in between.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>()
  return (request, response) => {
    const { socket } = request
    const connection = connections.get(socket) ?? { isBusy: false, waiting: [] }
    connections.set(socket, connection)
    const begin = () => {
      // The answer before was the last one of its connection.
      if (!socket.writable) return
      response.once('close', () => beginNext(connection))
      handle(request, response)
    }
    if (!connection.isBusy) {
      connection.isBusy = true
      begin()
    } else if (connection.waiting.length < WAITING_AT_MOST) {
      // In a context of its own: the trace of the request before is not its trace.
      connection.waiting.push(AsyncResource.bind(begin))
    } else socket.destroy(new Error(`More than ${WAITING_AT_MOST} requests wait for the answer before theirs`))
  }
}

function beginNext(connection: Connection): void {
  const begin = connection.waiting.shift()
  connection.isBusy = begin !== undefined
  if (begin) setImmediate(begin)
}
