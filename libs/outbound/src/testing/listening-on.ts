import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** Lets a server listen on loopback until the test file is done, and returns its port. */
export async function listeningOn(server: Server, host = '127.0.0.1'): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  whenDone(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
