import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { whenDone } from '@backoffice/testing/when-done.ts'

/**
 * Stands before a server. When told to, it hangs as a server does whose processes are all stopped: connections are
 * accepted and stay open, and nothing is answered until it goes on.
 */
export async function hangingServer(behind: URL) {
  const sockets = new Set<Socket>()
  let isHanging = false
  const server = createServer((client) => {
    const upstream = connect(Number(behind.port), behind.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isHanging) from.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const setHanging = (to: boolean) => {
    isHanging = to
    for (const socket of sockets) to ? socket.pause() : socket.resume()
  }
  whenDone(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: String((server.address() as AddressInfo).port),
    hang: () => setHanging(true),
    goOn: () => setHanging(false),
  }
}
