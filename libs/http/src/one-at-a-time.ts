import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Handles the requests of a connection one after the other (OP-303). Node itself handles at once all that a client has
 * sent without waiting for answers (pipelining): some 2,000 in one read, while other connections wait. Here others get
 * their turn in between, and no more is read until the last one that has arrived is handled.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const latest = new WeakMap<Socket, ServerResponse>()
  return (request, response) => {
    const { socket } = request
    const before = latest.get(socket)
    latest.set(socket, response)
    // Node gives a response its socket when the one before is sent.
    if (before === undefined || response.socket !== null) return handle(request, response)
    // Node reads on at the end of each request, which comes in this tick when the whole request has arrived.
    if (!socket.isPaused()) process.nextTick(() => socket.pause())
    before.once('close', () =>
      setImmediate(() => {
        // The answer before may have been the last one of its connection.
        if (!socket.writable) return
        if (latest.get(socket) === response) socket.resume()
        handle(request, response)
      }),
    )
  }
}
