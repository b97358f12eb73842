import { once } from 'node:events'
import { createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { afterAll, expect, test } from 'vitest'
import { guardedAgent } from './guarded-agent.ts'
import { type Exchange, type Limits, post } from './post.ts'

const locally = { allowLoopback: true }
const agent = guardedAgent(locally)
const receiver = await startReceiver()
afterAll(() => agent.destroy())

const send = (url: string, timeoutMs = 5000, limits: Partial<Limits> = {}): Promise<Exchange> =>
  post(
    agent,
    { url: new URL(url), headers: { 'X-Test': 'yes' }, body: Buffer.from('{"a":1}') },
    { timeoutMs, ...limits },
  )

test('the body arrives byte by byte as given, and the answer is captured', async () => {
  receiver.answerWith((response) => response.writeHead(201, { 'x-answer': 'yes' }).end('thanks'))
  const exchange = await send(`${receiver.url}/path?query=1`)
  expect(receiver.requests.at(-1)).toMatchObject({ path: '/path?query=1', body: Buffer.from('{"a":1}') })
  expect(receiver.requests.at(-1)?.headers['x-test']).toBe('yes')
  expect(exchange.failure).toBeNull()
  expect(exchange.response).toMatchObject({ status: 201, body: Buffer.from('thanks'), isTruncated: false })
  expect(exchange.response?.headers['x-answer']).toBe('yes')
})

test('a redirect is a failure and is not followed (OP-70)', async () => {
  receiver.answerWith((response) => response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end())
  const exchange = await send(`${receiver.url}/here`)
  expect(exchange.failure).toEqual({ class: 'status', message: 'answered 302: redirects are not followed' })
  expect(exchange.response?.headers.location).toBe(`${receiver.url}/elsewhere`)
  expect(receiver.requests.map(({ path }) => path)).not.toContain('/elsewhere')
})

test('of a response of 1 MB the first 16 KiB are kept and the rest is not read (OP-66)', async () => {
  let connectionEnded: Promise<unknown> | undefined
  receiver.answerWith((response) => {
    connectionEnded = once(response, 'close')
    response.writeHead(200).end('x'.repeat(1_000_000))
  })
  const exchange = await send(receiver.url)
  expect(exchange.failure).toBeNull()
  expect(exchange.response).toMatchObject({ isTruncated: true, body: Buffer.from('x'.repeat(16 * 1024)) })
  await connectionEnded
})

test('more than 16 KiB are kept for those who ask for more', async () => {
  receiver.answerWith((response) => {
    response.writeHead(200).write('x'.repeat(10_000))
    response.end('x'.repeat(20_000))
  })
  const { response } = await send(receiver.url, 5000, { keptBytes: 30_000 })
  expect(response).toMatchObject({ body: Buffer.from('x'.repeat(30_000)), isTruncated: false })
})

test('an answer that is no 2xx is a failure that comes with it', async () => {
  receiver.answerWith((response) => response.writeHead(409).end('not now'))
  const { response, failure } = await send(receiver.url)
  expect(failure).toEqual({ class: 'status', message: 'answered 409' })
  expect(response).toMatchObject({ status: 409, body: Buffer.from('not now') })
})

test('a request that may not begin once there is a connection is a failure, and nothing is sent', async () => {
  const before = receiver.requests.length
  const { response, failure } = await send(receiver.url, 5000, { mayBegin: () => false })
  expect([response, failure?.class, receiver.requests.length]).toEqual([null, 'connection', before])
})

test('an aborted request is a failure at once, and the other side sees its connection closed', async () => {
  const abort = new AbortController()
  let isOpen = false
  receiver.answerWith((response) => {
    isOpen = true
    response.on('close', () => {
      isOpen = false
    })
  })
  const sent = send(receiver.url, 5000, { signal: abort.signal })
  await eventually('it is under way', () => isOpen)
  abort.abort()
  const failure = { class: 'connection', message: 'the request was aborted' }
  expect(await sent).toMatchObject({ response: null, failure })
  await eventually('it is closed', () => !isOpen)
})

test('a request that is aborted before it starts is not sent', async () => {
  const before = receiver.requests.length
  const { failure } = await send(receiver.url, 5000, { signal: AbortSignal.abort() })
  expect(failure?.message).toBe('the request was aborted')
  expect(receiver.requests).toHaveLength(before)
})

test('a receiver that never answers is a time-out, and its connection is closed', async () => {
  let connectionEnded: Promise<unknown> | undefined
  receiver.answerWith((response) => {
    connectionEnded = once(response, 'close')
  })
  const exchange = await send(receiver.url, 100)
  expect(exchange).toMatchObject({ response: null, failure: { class: 'timeout' } })
  await connectionEnded
})

/** A server in a thread of its own. It answers once `turns[0]` is set, and sets `turns[1]` then. */
const ANSWERING = `
  const { parentPort, workerData: turns } = require('node:worker_threads')
  const server = require('node:http').createServer((request, response) => {
    parentPort.postMessage('asked')
    Atomics.wait(turns, 0, 0)
    response.end('in time', () => {
      Atomics.store(turns, 1, 1)
      Atomics.notify(turns, 1)
    })
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

test('an answer that came while the process stood still beyond the time-out counts', async () => {
  const turns = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(ANSWERING, { eval: true, workerData: turns })
  whenDone(() => worker.terminate())
  const [port] = await once(worker, 'message')
  const sent = send(`http://127.0.0.1:${port}`, 3000)
  await once(worker, 'message')
  Atomics.store(turns, 0, 1)
  Atomics.notify(turns, 0)
  Atomics.wait(turns, 1, 0)
  Atomics.wait(turns, 1, 1, 3000)
  expect(await sent).toMatchObject({ failure: null, response: { body: Buffer.from('in time') } })
})

test('a connection that came while the process stood still beyond the time-out sends nothing', async () => {
  const sent = send(`${receiver.url}/late`, 100)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  expect((await sent).failure).toEqual({ class: 'timeout', message: 'no connection within 100 ms' })
  receiver.answerWith((response) => response.end())
  await send(`${receiver.url}/next`)
  expect(receiver.requests.map(({ path }) => path)).not.toContain('/late')
})

test('a 2xx whose body does not end in time is a time-out that shows what came', async () => {
  receiver.answerWith((response) => void response.writeHead(200).write('slow'))
  const exchange = await send(receiver.url, 2000)
  expect(exchange).toMatchObject({
    response: { status: 200, body: Buffer.from('slow') },
    failure: { class: 'timeout' },
  })
})

test('a receiver that resets the connection is a failure', async () => {
  receiver.answerWith((response) => void response.socket?.resetAndDestroy())
  expect(await send(receiver.url)).toMatchObject({ response: null, failure: { class: 'connection' } })
})

test('a port nobody listens on is refused', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ response: null, failure: { class: 'refused' } })
})
