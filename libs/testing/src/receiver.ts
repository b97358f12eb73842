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
export interface Receiver {
  readonly url: string
  readonly requests: Received[]
  /** Sets the answer to later requests; the first is 204. */
  answerWith(answer: (response: ServerResponse, request: Received) => void): void
}

export async function startReceiver(): Promise<Receiver> {
  const requests: Received[] = []
  let answer: Parameters<Receiver['answerWith']>[0] = (response) => response.writeHead(204).end()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const received = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }
    requests.push(received)
    answer(response, received)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenDone(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answerWith(next) {
      answer = next
    },
  }
}
