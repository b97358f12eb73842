import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A webhook receiver on loopback that answers 200 at once and notes when each body arrived (`performance.now()`). */
export async function startReceiver() {
  const arrivals: { at: number; body: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      arrivals.push({ at: performance.now(), body: Buffer.concat(chunks).toString() })
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
