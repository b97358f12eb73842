import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { selfSigned } from './certificate.ts'
import { listeningOn } from './listening-on.ts'

interface Asked {
  readonly target: string | undefined
  readonly authorization: string | undefined
}

/** An HTTP proxy on loopback that tunnels: every name leads here. `refuseWith` makes it answer a status instead. */
export async function startConnectProxy(protocol: 'http' | 'https' = 'http') {
  const asked: Asked[] = []
  const tunnels = new Set<Socket>()
  let refusal: number | undefined
  const server = protocol === 'https' ? createTlsServer(selfSigned) : createServer()
  server.on('connection', (socket: Socket) => tunnels.add(socket.on('close', () => tunnels.delete(socket))))
  server.on('connect', ({ url, headers }, client: Socket) => {
    asked.push({ target: url, authorization: headers['proxy-authorization'] })
    if (refusal === 0) return
    if (refusal !== undefined) return client.end(`HTTP/1.1 ${refusal} No\r\nContent-Length: 2\r\n\r\nno`)
    const target = connect(Number(url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.pipe(client).pipe(target)
    })
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      socket.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
  })
  return {
    address: `127.0.0.1:${await listeningOn(server)}`,
    asked,
    tunnels,
    /** 0 makes it say nothing at all. */
    refuseWith(status: number | undefined) {
      refusal = status
    },
  }
}
