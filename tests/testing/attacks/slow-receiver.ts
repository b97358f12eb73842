import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ANSWER_MS = 200

/** A webhook receiver that answers every second request at once and the others after 200 ms. */
export async function startSlowReceiver() {
  let received = 0
  const server = createServer((request, response) => {
    const answerMs = received++ % 2 === 0 ? 0 : ANSWER_MS
    request.resume().on('end', () => setTimeout(() => response.writeHead(200).end(), answerMs))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
