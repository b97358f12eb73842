import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** `body` is the body of the request. */
export type AnswerRequest = (request: IncomingMessage, response: ServerResponse, body: string) => unknown

/** Answers with JSON. */
export const json =
  (status: number, body: unknown): AnswerRequest =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Loses the connection. */
export const hangUp: AnswerRequest = (request) => request.socket.destroy()

/** Lets the server at `url` answer. */
export const forwardTo =
  (url: string): AnswerRequest =>
  async (request, response, body) => {
    const answer = await forwarded(url, request, body)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }

/** Sends the request to the server at `url`, and loses the answer. */
export const loseAnswerOf =
  (url: string): AnswerRequest =>
  async (request, _response, body) => {
    await forwarded(url, request, body)
    request.socket.destroy()
  }

const forwarded = (url: string, { method = '', url: path, headers }: IncomingMessage, body: string) =>
  fetch(`${url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-internal-token': String(headers['x-internal-token']),
      'x-request-id': String(headers['x-request-id']),
    },
    body,
  })

/** A server that answers as a test wants, for what a real service does too rarely. */
export async function answeringServer() {
  const server = createServer((request, response) => {
    state.requests++
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => (state.next.shift() ?? state.answer)(request, response, body))
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
