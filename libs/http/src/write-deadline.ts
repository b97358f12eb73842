import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How slowly a client may take its answers (OP-163). */
export interface WriteLimits {
  /** So many bytes at least, */
  readonly bytes: number
  /** in this time, in milliseconds, while more of them wait to be written. */
  readonly withinMs: number
}

/**
 * 64 KiB in 30 s. The kernel takes bytes ahead of the client, and up to 1.5 MB at once (measured), so in less time a client that steadily
 * takes 50 kB/s would seem to stand still.
 */
export const CLIENT_LIMITS: WriteLimits = { bytes: 64 * 1024, withinMs: 30_000 }
/** The client of a service is the gateway: it ends what its own client does not take, and should do so first. */
export const GATEWAY_LIMITS: WriteLimits = { ...CLIENT_LIMITS, withinMs: 60_000 }

/** Ends answers that clients take too slowly, as `slowConnections` finds them. */
export function endSlowAnswers(app: FastifyInstance, limits: WriteLimits): void {
  const look = slowConnections(app.server, limits)
  const looking = setInterval(() => look(performance.now()), limits.withinMs / 6).unref()
  app.addHook('onClose', async () => clearInterval(looking))
}

/**
 * Finds the connections of a server whose clients take too little, and destroys them: their answers end, with all that they hold. An answer
 * may last for as long as its client takes it, and server-sent events for as long as nothing waits. Returns the function that looks at all
 * connections, which is called several times within `withinMs`; `now` is in milliseconds.
 */
export function slowConnections(server: Server, { bytes, withinMs }: WriteLimits): (now: number) => void {
  /** The connections, with what the clients of those with waiting bytes had taken, and when. */
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
 * The bytes that the kernel has taken for the client. Nothing public counts those of a chunk that is partly written, and an answer of
 * megabytes is one chunk; Node's own time limit of sockets reads the same property.
 */
function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { bytesWritten: number; writeQueueSize: number } | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
