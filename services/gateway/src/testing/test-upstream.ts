import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { whenDone } from '@backoffice/testing/when-done.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** A service of the test's own behind the gateway, over real HTTP. */
export interface TestUpstream {
  readonly url: string
  /** How it answers from now on; the request itself as JSON unless told otherwise. */
  answer: Answer
  /** Requests it has been sent. */
  readonly received: IncomingMessage[]
  /** Closes the port. */
  stop(): Promise<void>
}

/** What an upstream that was not told otherwise answers. */
export interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Answers with the request itself as JSON. */
export const echo: Answer = async (request, response) => {
  const { method, url, headers } = request
  const body = (await buffer(request)).toString()
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ method, url, headers, body }))
}

/** Starts an upstream; it is stopped when the test file is done. */
export async function testUpstream(port = 0): Promise<TestUpstream> {
  const received: IncomingMessage[] = []
  const server = createServer((request, response) => {
    received.push(request)
    // A request that is broken off on its way has nobody to answer.
    Promise.resolve(upstream.answer(request, response)).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  whenDone(stop)
  const upstream: TestUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: echo,
    received,
    stop,
  }
  return upstream
}
