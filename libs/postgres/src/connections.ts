import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { counter } from '@backoffice/runtime/metrics.ts'
import type { DatabaseServer } from './database-server.ts'

/** How long a connection may be silent, in milliseconds. */
export interface Silence {
  /** One that is silent for longer waits for an answer: the driver closes an idle one before, where it may. */
  readonly idleMs: number
  /** A server that is there has answered by then. */
  readonly answerMs: number
}

/** A connection from the start of connecting on. The driver may speak TLS on the socket. */
interface Connection {
  readonly socket: Socket
  /** Host and port of the server's URL. */
  readonly address: string
  readonly name: string
  readonly silence: Silence
  /** Bytes received until the last look. */
  received: number
  silentMs: number
}

/** What the driver hands to its option `socket`, which its types lack. */
interface DriverOptions {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path: string | false
  /** Only the connection for LISTEN has it. */
  readonly onnotify?: unknown
}

/** Seconds of silence before the system asks whether the other host is there: ten times, each second. */
export const KEEP_ALIVE_SECONDS = 5
/** Silence is counted in looks, not by the clock: a process that stood still has not listened meanwhile. */
const LOOK_EVERY_MS = 1000
/** Two looks: the driver's timer for idle connections may be late. */
const MARGIN_MS = 2 * LOOK_EVERY_MS
/** Of connections that the driver never closes for being idle. */
const NEVER_LATE: Silence = { idleMs: -MARGIN_MS, answerMs: Number.POSITIVE_INFINITY }

const givenUp = counter('postgres_connections_given_up', 'Connections closed because the server was silent, by pool')

/** Every connection of this process to PostgreSQL or a pooler. */
const connections = new Set<Connection>()
let looking: NodeJS.Timeout | undefined

/**
 * The driver's options by which its connections are among those of this process. One that is silent for longer than
 * `silence` allows is given up: its statements fail as those of a lost connection do. A host that vanishes closes
 * nothing, and the system repeats what was sent to it for a quarter of an hour.
 */
export function watched(server: DatabaseServer, name: string, silence: Silence = NEVER_LATE) {
  const address = addressOf(server)
  return {
    keep_alive: KEEP_ALIVE_SECONDS,
    socket({ host, port, path, onnotify }: DriverOptions): Socket {
      const socket = new Socket()
      // As a balancer without a server does. The driver would connect anew at once, without end and without an error.
      socket.once('end', () => {
        if (socket.bytesRead > 0) return
        socket.destroy(Object.assign(new Error('PostgreSQL closed the connection at once'), { code: 'ECONNRESET' }))
      })
      add({ socket, address, name, silence: onnotify ? NEVER_LATE : silence, received: 0, silentMs: 0 })
      if (path) return socket.connect(path)
      // The driver names the host to TLS.
      return Object.assign(socket.connect({ host: String(host[0]), port: Number(port[0]) }), { host: host[0] })
    },
  }
}

/**
 * Notes which connections to a server there are. The returned function gives those up that have heard nothing since,
 * and returns how many of them may be idle or wait for an answer, to be asked again.
 */
export function noteConnections(server: DatabaseServer): () => Promise<number> {
  look()
  const noted = new Map<Connection, number>()
  for (const each of connections) if (each.address === addressOf(server)) noted.set(each, each.received)
  return async () => {
    look()
    for (const [each, received] of noted) {
      if (each.received > received || !connections.has(each)) noted.delete(each)
      else if (each.silentMs >= each.silence.idleMs + MARGIN_MS) await giveUp(each)
    }
    return noted.size
  }
}

const addressOf = ({ url }: DatabaseServer) => new URL(url).host

function add(connection: Connection): void {
  connections.add(connection)
  looking ??= setInterval(() => {
    look()
    for (const each of connections) {
      each.silentMs += LOOK_EVERY_MS
      if (each.silentMs > each.silence.answerMs) void giveUp(each)
    }
  }, LOOK_EVERY_MS).unref()
}

/** Notes which connections have received something, and forgets those that are closed. */
function look(): void {
  for (const each of connections) {
    const { bytesRead, destroyed } = each.socket
    if (destroyed) connections.delete(each)
    if (bytesRead > each.received) Object.assign(each, { received: bytesRead, silentMs: 0 })
  }
  if (connections.size > 0) return
  clearInterval(looking)
  looking = undefined
}

/**
 * Closes a connection, one in each turn of the event loop. The driver writes a statement in the turn after it: a slot
 * of its pool that is closed in between stays unusable (https://github.com/porsager/postgres/issues/1208).
 */
async function giveUp(connection: Connection): Promise<void> {
  connections.delete(connection)
  givenUp.add(1, { pool: connection.name })
  await nextTurn()
  connection.socket.destroy()
}
