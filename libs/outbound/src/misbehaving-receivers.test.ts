import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { eventually } from '@backoffice/testing/eventually.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { guardedAgent } from './guarded-agent.ts'
import { type Exchange, post } from './post.ts'
import { startRawReceiver } from './testing/raw-receiver.ts'

const KIB = 1024
const agent = guardedAgent({ allowLoopback: true })
afterAll(() => agent.destroy())
const receiver = await startRawReceiver()
const { behaveAs } = receiver

const send = (timeoutMs = 5000): Promise<Exchange> =>
  post(agent, { url: new URL(receiver.url), headers: {}, body: Buffer.from('{}') }, { timeoutMs })

/** Writes `part` again and again while the other side takes it. */
function flood(socket: Socket, part: Buffer | string): void {
  if (socket.destroyed) return
  if (socket.write(part)) setImmediate(flood, socket, part)
  else socket.once('drain', () => flood(socket, part))
}

const allClosed = () => eventually('the connection is closed', () => receiver.open.size === 0)

const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`
const LONG = 'x'.repeat(64 * KIB)

test.each([
  ['says nothing', '', 'no response within 1000 ms'],
  ['stops in its headers', `${HEAD}Content-Le`, 'no response within 1000 ms'],
  ['stops in its body', `${HEAD}Content-Length: 9\r\n\r\nslow`, 'no complete response within 1000 ms'],
])('a receiver that %s is a time-out, and its connection is closed', async (_, bytes, message) => {
  behaveAs((socket) => void socket.write(bytes))
  const exchange = await send(1000)
  expect(exchange.failure).toEqual({ class: 'timeout', message })
  expect(exchange.durationMs).toBeGreaterThanOrEqual(999)
  await allClosed()
})

test.each([
  ['before the time is over counts', 1000, 10_000, null],
  ['after it does not', 5000, 1000, { class: 'timeout', message: 'no response within 1000 ms' }],
])('a 2xx %s (spec: Retries 1; OP-77)', async (_, delay, timeoutMs, failure) => {
  behaveAs((socket) => void setTimeout(() => socket.write(`${HEAD}Content-Length: 0\r\n\r\n`), delay))
  expect((await send(timeoutMs)).failure).toEqual(failure)
})

test('a body that comes byte by byte is read to its end', async () => {
  behaveAs((socket) => {
    socket.write(`${HEAD}Content-Length: 500\r\n\r\n`)
    let sent = 0
    const one = () => void socket.write('x', () => ++sent < 500 && setImmediate(one))
    one()
  })
  expect(await send()).toMatchObject({ failure: null, response: { body: Buffer.alloc(500, 'x'), isTruncated: false } })
})

describe('what is longer than is kept is not read', () => {
  test.each([
    ['1 GB of body', `${HEAD}Content-Length: 1000000000\r\n\r\n`, LONG],
    ['a body without end', CHUNKED, `${LONG.length.toString(16)}\r\n${LONG}\r\n`],
    ['a body without end in chunks of one byte', CHUNKED, '1\r\nx\r\n'.repeat(KIB)],
    ['a body until the connection closes', `${HEAD}\r\n`, LONG],
  ])('%s: delivered, with its first 16 KiB', async (_, head, part) => {
    const sent: Socket[] = []
    behaveAs((socket) => {
      sent.push(socket)
      socket.write(head)
      flood(socket, part)
    })
    const exchange = await send()
    expect(exchange).toMatchObject({ failure: null, response: { status: 200, isTruncated: true } })
    expect(exchange.response?.body).toHaveLength(16 * KIB)
    await allClosed()
    // What the sockets' buffers took beside it.
    expect(sent[0]?.bytesWritten).toBeLessThan(20_000 * KIB)
  })

  test.each([
    ['1 MB of headers', HEAD, `X-Long: ${LONG}\r\n`, 'the headers of the response are longer than 16 KiB'],
    [
      'informational responses',
      '',
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100),
      'sent 1 MiB and the response was not complete',
    ],
    ['a chunk extension', `${CHUNKED}1;`, LONG, 'sent 1 MiB and the response was not complete'],
    ['a reason phrase', 'HTTP/1.1 200 ', LONG, 'sent 1 MiB and the response was not complete'],
  ])('%s without end: a failure, long before the time is over', async (_, head, part, message) => {
    behaveAs((socket) => {
      socket.write(head)
      flood(socket, part)
    })
    expect((await send(60_000)).failure).toEqual({ class: 'connection', message })
    await allClosed()
  })
})

describe('what is broken off or is no HTTP is a failure that says so', () => {
  test.each([
    ['closes without an answer', '', 'the connection broke off: other side closed'],
    ['closes in its headers', `${HEAD}Content-`, 'the connection broke off: other side closed'],
    ['closes in its body', `${HEAD}Content-Length: 9\r\n\r\nslow`, 'the connection broke off: other side closed'],
    ['speaks SSH', 'SSH-2.0-OpenSSH_9.6\r\n', /does not match the HTTP\/1.1 protocol/],
    [
      'sends two lengths',
      `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`,
      /not as long as its Content-Length/,
    ],
    ['switches protocols', 'HTTP/1.1 101 Switching\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n', /bad upgrade/],
  ])('%s', async (_, bytes, message) => {
    behaveAs((socket) => void socket.end(bytes))
    const { failure } = await send()
    expect(failure?.class).toBe('connection')
    expect(failure?.message).toMatch(message)
  })

  test('resets', async () => {
    behaveAs((socket) => void socket.resetAndDestroy())
    expect(await send()).toMatchObject({ response: null, failure: { class: 'connection' } })
  })
})

test('a 2xx that breaks off shows what came of it', async () => {
  behaveAs((socket) => void socket.end(`${HEAD}Content-Length: 9\r\n\r\nslow`))
  expect((await send()).response).toMatchObject({ status: 200, body: Buffer.from('slow') })
})

test('a 204 with a body is delivered, and the body is no answer to the next request', async () => {
  behaveAs(
    (socket) => void socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nHTTP/1.1 500 Oops\r\n\r\n'),
  )
  for (let request = 0; request < 3; request++) {
    expect(await send()).toMatchObject({ failure: null, response: { status: 204, body: Buffer.alloc(0) } })
  }
})

test('an answer nobody asked for is not taken for the answer to the next request', async () => {
  let requests = 0
  behaveAs((socket) => {
    const answer = `${HEAD}Content-Length: 1\r\nX-Request: ${++requests}\r\n\r\n1`
    socket.write(answer + answer)
  })
  for (let request = 1; request <= 3; request++) {
    expect((await send()).response?.headers['x-request']).toBe(String(request))
  }
})

test('a compressed body is kept as it came: what it would become is never made', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000 * KIB))
  behaveAs((socket) => {
    socket.write(`${HEAD}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
    socket.write(bomb)
  })
  expect((await send()).response?.body).toEqual(bomb.subarray(0, 16 * KIB))
})

test('a receiver that does not read is a time-out', async () => {
  const body = Buffer.alloc(50_000 * KIB)
  behaveAs((socket) => void socket.pause())
  const exchange = await post(agent, { url: new URL(receiver.url), headers: {}, body }, { timeoutMs: 300 })
  expect(exchange.failure).toEqual({ class: 'timeout', message: 'no response within 300 ms' })
})
