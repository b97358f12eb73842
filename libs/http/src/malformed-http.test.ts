import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expect, it } from 'vitest'
import { createApp } from './app.ts'
import { expectRefusal, thingsApi } from './testing/things-api.ts'

const { db } = await testDatabase('catalog')
const { port, send } = await thingsApi(db)

/** What a connection answers to bytes until it closes, read as one HTTP response. */
async function exchange(bytes: string) {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => line.split(': ')).map(([name, value]) => [name?.toLowerCase(), value]),
  )
  return { status: Number(statusLine.split(' ')[1]), headers, body: JSON.parse(body) }
}

it.each([
  ['no HTTP at all', 'garbage\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00'],
  ['a method nobody knows', 'BREW /v1/things HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a raw space in the path', 'GET /v1/ things HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a raw NUL in the path', 'GET /v1/\0 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a NUL in a header', 'GET /v1/things HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
  ['two lengths', 'POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'],
  [
    'a length and chunks',
    'POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n{}',
  ],
])('%s is answered 400 with the error body, and the connection closed', async (_what, bytes) => {
  const answer = await exchange(bytes)
  expectRefusal(answer, 400, 'bad_request', 'The request is not well-formed HTTP')
  expect(answer.headers.connection).toBe('close')
})

it('says so when the headers are too large', async () => {
  const answer = await exchange(`GET /v1/things HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`)
  expectRefusal(answer, 400, 'bad_request', 'The headers are larger than 16 KiB')
})

it('waits a minute for headers, and no longer: a connection that sends none would be held for ever', async () => {
  const app = createApp({ logger: createLogger('test', 'silent'), trustRequestId: false })
  expect(app.server).toMatchObject({ headersTimeout: 60_000, requestTimeout: 0 })
  await app.close()
})

it('refuses HTTP/1.1 without Host with the error body', async () => {
  const answer = await exchange('GET /v1/things HTTP/1.1\r\nConnection: close\r\n\r\n')
  expectRefusal(answer, 400, 'bad_request', 'Host: is missing')
})

it('refuses two Host headers: what stands before us may have read the other one', async () => {
  const answer = await exchange('GET /v1/things HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n')
  expectRefusal(answer, 400, 'bad_request', 'Host: is sent more than once')
})

it('goes on answering others', async () => {
  expect((await send('GET', '/v1/things')).status).toBe(200)
})
