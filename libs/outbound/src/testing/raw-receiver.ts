import { createServer, type Socket } from 'node:net'
import { listeningOn } from './listening-on.ts'

/** A TCP server on loopback that answers each request with whatever bytes a test writes. */
export async function startRawReceiver() {
  const open = new Set<Socket>()
  let behave: (socket: Socket) => void = () => undefined
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    socket.on('data', () => behave(socket))
  })
  return {
    url: `http://127.0.0.1:${await listeningOn(server)}`,
    /** Connections that are open. */
    open,
    /** What is done from now on with each part of a request that arrives. */
    behaveAs(next: (socket: Socket) => void) {
      behave = next
    },
  }
}
