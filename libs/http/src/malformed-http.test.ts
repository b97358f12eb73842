import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
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

/** A connection to an app with one route, which waits for the test. */
async function connectionWithAnswer() {
  const app = createApp({ logger: createLogger('test', 'silent'), trustRequestId: false })
  whenDone(() => app.close())
  const content = new PassThrough()
  const asked: string[] = []
  app.post('/slow', { config: { takesFile: true } }, (request, reply) => {
    asked.push(String(request.headers.name))
    reply.header('content-length', 20)
    return reply.send(content)
  })
  app.post('/echo', async ({ body }) => body)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const malformed = once(app.server, 'clientError')
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  whenDone(() => void socket.destroy())
  let received = ''
  socket.on('data', (text) => {
    received += text
  })
  const post = (name: string) => socket.write(`POST /slow HTTP/1.1\r\nHost: a\r\nName: ${name}\r\n\r\n`)
  return { socket, content, asked, post, malformed, received: () => received }
}

it('a malformed request behind an answer under way is answered after it', async () => {
  const { socket, content, post, malformed, received } = await connectionWithAnswer()
  post('first')
  content.write('aaaaaaaaaa')
  await eventually('half the answer is there', () => received().endsWith('aaaaaaaaaa'))
  socket.write('garbage\r\n\r\n')
  await malformed
  socket.write('garbage\r\n\r\n')
  content.end('bbbbbbbbbb')
  await once(socket, 'close')
  expect(received()).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\na{10}b{10}HTTP\/1\.1 400 .*malformed_request.*\}$/s)
  expect(received().match(/HTTP\/1\.1/g)).toHaveLength(2)
})

it('it takes the turn of no well-formed request before it', async () => {
  const { socket, content, asked, post, malformed, received } = await connectionWithAnswer()
  post('first')
  await eventually('the first is handled', () => asked.length === 1)
  post('second')
  socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n')
  await malformed
  expect(received()).toBe('')
  content.end('aaaaaaaaaabbbbbbbbbb')
  await once(socket, 'close')
  expect(asked).toEqual(['first', 'second'])
  expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
})

it('a request whose own body is malformed is answered at once', async () => {
  const { socket, received } = await connectionWithAnswer()
  const head = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  socket.write(`${head}no length\r\n`)
  await once(socket, 'close')
  expect(received()).toMatch(/^HTTP\/1\.1 400 /)
})

it('an answer that has begun is broken off when the body of its request is malformed', async () => {
  const { socket, content, received } = await connectionWithAnswer()
  const ofFile = 'Content-Type: multipart/form-data\r\nTransfer-Encoding: chunked'
  socket.write(`POST /slow HTTP/1.1\r\nHost: a\r\n${ofFile}\r\n\r\n`)
  content.write('aaaaaaaaaa')
  await eventually('half the answer is there', () => received().endsWith('aaaaaaaaaa'))
  socket.write('no length\r\n')
  await once(socket, 'close')
  expect(received()).toMatch(/aaaaaaaaaa$/)
})

it('goes on answering others', async () => {
  expect((await send('GET', '/v1/things')).status).toBe(200)
})
