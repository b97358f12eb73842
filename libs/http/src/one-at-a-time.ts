import { AsyncResource } from 'node:async_hooks'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** So many requests of a connection wait at most: each takes some kilobytes, and 64 KiB hold thousands of them. */
export const WAITING_AT_MOST = 64

interface Connection {
  /** Whether a request is being handled. */
  isBusy: boolean
  /** Begin the requests that have arrived since. */
  readonly waiting: (() => void)[]
  /** What has arrived last, unless all is answered. */
  last?: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined
  /** Whether its bytes can be read no further. */
  isMalformed: boolean
}

const connections = new WeakMap<Socket, Connection>()

/**
 * Handles the requests of a connection one after the other, and closes a connection on which too many wait (OP-303).
 * Node itself handles at once all that a client has sent without waiting for answers (pipelining), while other
 * connections wait. Here others get their turn in between.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request
    const connection: Connection = connections.get(socket) ?? { isBusy: false, waiting: [], isMalformed: false }
    connection.last = { request, response }
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

/**
 * Calls `refuse` when it is the turn of the malformed request on this connection, and once: at once, or after the
 * answers before. Breaks the connection off when the answer to the malformed request itself has begun (OP-303).
 */
export function refuseInTurn(socket: Socket, refuse: () => void): void {
  const connection = connections.get(socket)
  if (connection?.isMalformed) return
  if (connection !== undefined) connection.isMalformed = true
  const { waiting = [], last } = connection ?? {}
  const inTurn = () => {
    if (socket.writable) refuse()
  }
  if (last === undefined) refuse()
  else if (last.request.complete) waiting.push(inTurn)
  else if (waiting.length > 0) waiting.splice(-1, 1, inTurn)
  else if (last.response.headersSent) socket.destroy()
  else refuse()
}

function beginNext(connection: Connection): void {
  const begin = connection.waiting.shift()
  connection.isBusy = begin !== undefined
  if (begin) setImmediate(begin)
  else connection.last = undefined
}
