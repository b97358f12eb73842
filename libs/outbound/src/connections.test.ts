import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import type { KeepLimits } from './connections.ts'
import { guardedAgent } from './guarded-agent.ts'
import { post } from './post.ts'
import { listeningOn } from './testing/listening-on.ts'

/** A receiver and the connections to it. It asks for as long a keep-alive as any: what closes is closed by us. */
async function startReceiver(
  answer: RequestListener = (_, response) => response.writeHead(204, { 'keep-alive': 'timeout=600' }).end(),
) {
  const open = new Set<Socket>()
  let made = 0
  const server = createServer({ keepAlive: true, keepAliveTimeout: 0 }, answer).on('connection', (socket) => {
    made++
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  return { url: new URL(`http://127.0.0.1:${await listeningOn(server)}`), open, made: () => made }
}

function agentWith(limits: Partial<KeepLimits> = {}) {
  const keep = { perOrigin: 1000, inAll: 1000, ageMs: 600_000, responseMiB: 1, ...limits }
  const agent = guardedAgent({ allowLoopback: true }, { keep })
  whenDone(() => agent.destroy())
  return {
    agent,
    send: async (url: URL) => {
      const { failure } = await post(agent, { url, headers: {}, body: Buffer.from('{}') }, { timeoutMs: 10_000 })
      expect(failure).toBeNull()
    },
  }
}

const times = <Result>(count: number, make: (index: number) => Result): Result[] => [...Array(count).keys()].map(make)

test('a connection is kept for the next request to its origin', async () => {
  const { send } = agentWith()
  const receiver = await startReceiver()
  for (let request = 0; request < 10; request++) await send(receiver.url)
  expect(receiver.made()).toBe(1)
})

test('no request waits for another to its origin, however many there are', async () => {
  const { send } = agentWith()
  const held: (() => void)[] = []
  const receiver = await startReceiver((_, response) => void held.push(() => response.writeHead(204).end()))
  const sent = times(300, () => send(receiver.url))
  await eventually('all are there', () => held.length === 300)
  for (const answer of held) answer()
  await Promise.all(sent)
})

test('an origin keeps so many idle connections and no more', async () => {
  const { send } = agentWith({ perOrigin: 5 })
  const receiver = await startReceiver()
  await Promise.all(times(50, () => send(receiver.url)))
  await eventually('the others are closed', () => receiver.open.size === 5)
})

test('after requests to 300 origins so many connections are kept as all may have, those used last (OP-99)', async () => {
  const { send } = agentWith({ perOrigin: 10, inAll: 40 })
  const receivers = await Promise.all(times(300, () => startReceiver()))
  for (const { url } of receivers) await send(url)
  const openNow = () => receivers.filter(({ open }) => open.size > 0)
  await eventually('the others are closed', () => openNow().length === 40)
  expect(openNow()).toEqual(receivers.slice(-40))
})

test('a connection that became idle is closed after some seconds', async () => {
  const { send } = agentWith()
  const receiver = await startReceiver((_, response) => response.writeHead(204, { 'keep-alive': 'timeout=3' }).end())
  await send(receiver.url)
  await eventually('it is closed', () => receiver.open.size === 0)
})

test('a connection that is too old is not used again', async () => {
  const { send } = agentWith({ ageMs: 0 })
  const receiver = await startReceiver()
  for (let request = 0; request < 3; request++) await send(receiver.url)
  expect(receiver.made()).toBe(3)
})

test('a connection the receiver closed is made anew, and the request does not fail', async () => {
  const { send } = agentWith()
  const receiver = await startReceiver()
  for (let request = 1; request <= 3; request++) {
    await send(receiver.url)
    expect(receiver.made()).toBe(request)
    for (const socket of receiver.open) socket.destroy()
    await eventually('it is closed', () => receiver.open.size === 0)
  }
})

/** Answers the first request on each connection, and does `next` with the others. Keeps how many came on each. */
async function receiverOnce(next: (socket: Socket) => void) {
  const requests = new Map<Socket, number>()
  const receiver = await startReceiver(({ socket }, response) => {
    const count = (requests.get(socket) ?? 0) + 1
    requests.set(socket, count)
    if (count === 1) response.writeHead(204, { 'keep-alive': 'timeout=600' }).end()
    else next(socket)
  })
  return { ...receiver, requests: () => [...requests.values()] }
}

test.each([
  ['resets', (socket: Socket) => void socket.resetAndDestroy()],
  ['closes', (socket: Socket) => void socket.destroy()],
])(
  'a request on a kept connection that the receiver %s without an answer is sent once more, on a new one (OP-99)',
  async (_, next) => {
    const { send } = agentWith()
    const receiver = await receiverOnce(next)
    await send(receiver.url)
    await send(receiver.url)
    expect(receiver.requests()).toEqual([2, 1])
  },
)

test('a request on a kept connection that is being reset before it starts is sent on a new one', async () => {
  const { send } = agentWith()
  const receiver = await startReceiver()
  await send(receiver.url)
  // From here on, the client reads the reset before it writes.
  await setImmediate()
  for (const socket of receiver.open) socket.resetAndDestroy()
  await send(receiver.url)
  expect(receiver.made()).toBe(2)
})

test('a request is not sent again once an answer has begun, nor when its connection was new', async () => {
  const { agent, send } = agentWith()
  const failing = async (url: URL) => {
    const { failure } = await post(agent, { url, headers: {}, body: Buffer.from('{}') }, { timeoutMs: 10_000 })
    expect(failure).toMatchObject({ class: 'connection' })
  }
  const begins = await receiverOnce((socket) => void socket.end('HTTP/1.1 2'))
  await send(begins.url)
  await failing(begins.url)
  expect(begins.requests()).toEqual([2])
  const closes = await startReceiver(({ socket }) => void socket.destroy())
  await failing(closes.url)
  expect(closes.made()).toBe(1)
})

test('destroying the agent ends what is under way with the reason given, and closes all connections', async () => {
  const { agent, send } = agentWith()
  const idle = await startReceiver()
  await send(idle.url)
  const busy = await startReceiver(() => undefined)
  const sent = post(agent, { url: busy.url, headers: {}, body: Buffer.from('{}') }, { timeoutMs: 10_000 })
  await eventually('it is under way', () => busy.open.size === 1)
  await agent.destroy(new Error('stopping'))
  expect((await sent).failure).toEqual({ class: 'connection', message: 'stopping' })
  await eventually('all are closed', () => idle.open.size + busy.open.size === 0)
  const late = await post(agent, { url: idle.url, headers: {}, body: Buffer.from('{}') }, { timeoutMs: 10_000 })
  expect(late.failure?.class).toBe('connection')
})
