import { once } from 'node:events'
import { createServer } from 'node:net'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { afterAll, expect, test } from 'vitest'
import { guardedAgent } from './guarded-agent.ts'
import { type Exchange, post } from './post.ts'

const locally = { allowLoopback: true }
const agent = guardedAgent(locally)
const receiver = await startReceiver()
afterAll(() => agent.destroy())

const send = (url: string, timeoutMs = 5000): Promise<Exchange> =>
  post(agent, { url: new URL(url), headers: { 'X-Test': 'yes' }, body: Buffer.from('{"a":1}') }, { timeoutMs })

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

test('a receiver that never answers is a time-out, and its connection is closed', async () => {
  let connectionEnded: Promise<unknown> | undefined
  receiver.answerWith((response) => {
    connectionEnded = once(response, 'close')
  })
  const exchange = await send(receiver.url, 100)
  expect(exchange).toMatchObject({ response: null, failure: { class: 'timeout' } })
  await connectionEnded
})

test('a 2xx whose body does not end in time is a time-out that shows what came', async () => {
  receiver.answerWith((response) => void response.writeHead(200).write('slow'))
  const exchange = await send(receiver.url, 200)
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
