import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenDone } from '@backoffice/testing/when-done.ts'

type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => void

/** Answers with JSON. */
export const json =
  (status: number, body: unknown): AnswerRequest =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** A server that answers as a test wants, for what a real service does too rarely. */
export async function answeringServer() {
  const server = createServer((request, response) => {
    state.requests++
    request.resume().on('end', () => {
      const answer = state.next.shift() ?? state.answer
      answer(request, response)
    })
  })
  const state = {
    url: '',
    requests: 0,
    connections: 0,
    /** Answers the requests that have none in `next`. */
    answer: json(500, {}),
    /** Answers the next requests, in their order. */
    next: [] as AnswerRequest[],
  }
  server.on('connection', () => state.connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  whenDone(() => {
    server.close()
    server.closeAllConnections()
  })
  return state
}
