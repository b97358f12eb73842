import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How slowly a client may take its answers (OP-163). */
export interface WriteLimits {
  /** The least number of bytes that a client must take within `withinMs`. */
  readonly bytes: number
  /** In milliseconds. The time runs only while bytes wait to be written. */
  readonly withinMs: number
}

/**
 * 64 KiB in 30 s. The kernel takes up to 1.5 MB ahead of the client (measured): with a shorter time, a client that
 * steadily takes 50 kB/s would seem to take nothing.
 */
export const CLIENT_LIMITS: WriteLimits = { bytes: 64 * 1024, withinMs: 30_000 }
/** For services, whose client is the gateway: it should be the first to end an answer that a client does not take. */
export const GATEWAY_LIMITS: WriteLimits = { ...CLIENT_LIMITS, withinMs: 60_000 }

/** Ends answers that clients take too slowly, as `slowConnections` finds them. */
export function endSlowAnswers(app: FastifyInstance, limits: WriteLimits): void {
  const look = slowConnections(app.server, limits)
  const looking = setInterval(() => look(performance.now()), limits.withinMs / 6).unref()
  app.addHook('onClose', async () => clearInterval(looking))
}

/**
 * Returns a function that destroys the connections of clients that take too few of the bytes that wait: call it several
 * times within `withinMs`, with `now` in milliseconds.
 */
export function slowConnections(server: Server, { bytes, withinMs }: WriteLimits): (now: number) => void {
  /** All connections; for one with waiting bytes, how many bytes its client had taken at which time. */
  const connections = new Map<Socket, { readonly taken: number; readonly at: number } | undefined>()
  server.on('connection', (socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  return (now) => {
    for (const [socket, before] of connections) {
      const taken = takenOf(socket)
      if (socket.writableLength === 0) connections.set(socket, undefined)
      else if (before === undefined || taken - before.taken >= bytes) connections.set(socket, { taken, at: now })
      else if (now - before.at >= withinMs) socket.destroy(new Error('The client takes its answer too slowly'))
    }
  }
}

/**
 * The bytes that the kernel has taken. Node's public counters leave out a chunk that is partly written, and an answer
 * of megabytes is one chunk. Node's own socket timeout reads the same property.
 */
export function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { bytesWritten: number; writeQueueSize: number } | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
