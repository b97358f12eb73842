import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CommandError } from '../command/command-error.ts'
import type { DoctorKey } from './doctor-keys.ts'

/** Serves the doctor's public key on loopback at the platform's paths (OP-82). Port 0 takes a free one. */
export async function serveKeys({ jwks, pem }: DoctorKey, port: number) {
  const files = new Map([
    ['/.well-known/jwks.json', { type: 'application/jwk-set+json', content: jwks }],
    ['/.well-known/platform.pem', { type: 'application/x-pem-file', content: pem }],
  ])
  const server = createServer(({ url = '' }, response) => {
    const file = files.get(url)
    if (file) return response.writeHead(200, { 'content-type': file.type }).end(file.content)
    return response.writeHead(404).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`port ${port} cannot be used (${error.code}): choose another with --port`)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
