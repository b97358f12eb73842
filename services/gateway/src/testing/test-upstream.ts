import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** A service of the test's own behind the gateway, over real HTTP. */
export interface TestUpstream {
  readonly url: string
  /** How it answers; `echo` unless a test sets another. */
  answer: Answer
  /** The requests that have arrived. */
  readonly received: IncomingMessage[]
  /** Closes the port. */
  stop(): Promise<void>
}

/** The answer of `echo`. */
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
export async function testUpstream(givenPort?: number): Promise<TestUpstream> {
  const port = givenPort ?? (await freePort())
  const received: IncomingMessage[] = []
  const server = createServer((request, response) => {
    received.push(request)
    // The client of a request that was cut off waits for no answer.
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
    url: `http://127.0.0.1:${port}`,
    answer: echo,
    received,
    stop,
  }
  return upstream
}
