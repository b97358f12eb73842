import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenDone } from './when-done.ts'

/** A request that arrived. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The raw bytes. */
  readonly body: Buffer
}

/** An HTTP server on loopback that keeps the requests it gets. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export async function startReceiver() {
  const requests: Received[] = []
  let answer = (response: ServerResponse, _request: Received): unknown => response.writeHead(204).end()
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const received = { path: request.url ?? '', headers: request.headers, body }
    requests.push(received)
    answer(response, received)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** Sets the answer to later requests; the first is 204. */
    answerWith(next: typeof answer) {
      answer = next
    },
  }
}
