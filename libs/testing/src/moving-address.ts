import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './processes/ports.ts'
import { whenDone } from './when-done.ts'

/** An address of a server that may vanish and lead to another. */
export type MovingAddress = Awaited<ReturnType<typeof startMovingAddress>>

/**
 * Opens an address that leads to a server and can vanish, as a host does: its connections stay open, and nothing
 * arrives on them any more. For the calling test or file.
 */
export async function startMovingAddress(serverUrl: string) {
  const port = await freePort()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  let target: URL | undefined = new URL(serverUrl)
  let vanishing = new AbortController()
  const listener = createServer((client) => {
    keep(client)
    if (target === undefined) return void client.pause()
    const server = keep(connect({ host: target.hostname, port: Number(target.port) }))
    const pairs = [
      [client, server],
      [server, client],
    ] as const
    const isGone = vanishing.signal
    for (const [from, to] of pairs) from.pipe(to).on('close', () => isGone.aborted || from.destroy())
    isGone.addEventListener('abort', () => {
      for (const [from, to] of pairs) from.unpipe(to).pause()
    })
  })
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
  whenDone(() => {
    listener.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    /** The URL that leads through this address, with the same database and role. */
    through: (url: string) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    /** From now on nothing arrives on the connections that there are, nor on new ones. */
    vanish() {
      target = undefined
      vanishing.abort()
    },
    /** Leads new connections to a server. Those that vanished stay silent. */
    moveTo(url: string) {
      target = new URL(url)
      vanishing = new AbortController()
    },
  }
}
