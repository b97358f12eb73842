import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller, headersOf, testVerifier } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from './operation.ts'
import { ok, okStream } from './reply.ts'
import { createServiceApp, httpServer } from './server.ts'
import { Streamed } from './streamed.ts'

const { db } = await testDatabase('catalog')

it('finishes the requests it has, takes no new one, and waits for no client that keeps its connection', async () => {
  const gate = Promise.withResolvers<void>()
  let isEntered = false
  const slow = operation({
    operationId: 'slow',
    method: 'GET',
    path: '/v1/slow',
    summary: 'Wait',
    scope: 'product::read',
    responses: { 200: z.strictObject({}) },
    async handle() {
      isEntered = true
      await gate.promise
      return ok({})
    },
  })
  const app = createServiceApp({
    logger: createLogger('test', 'silent'),
    db,
    operations: [slow],
    verifyToken: testVerifier(),
  })
  const server = httpServer(app, { HOST: '127.0.0.1', PORT: 0 })
  await server.start?.()
  const { port } = app.server.address() as AddressInfo
  const headers = await headersOf(aCaller())
  const agent = new Agent({ keepAlive: true })
  const get = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest({ port, path: '/v1/slow', agent, headers }).on('response', resolve).on('error', reject).end()
    })

  const answer = get()
  await eventually('the handler runs', () => isEntered)
  const stopped = server.stop?.()
  await eventually('new connections are refused', () =>
    get().then(
      () => false,
      () => true,
    ),
  )
  gate.resolve()

  const response = await answer
  expect([response.statusCode, await text(response)]).toEqual([200, '{}'])
  expect(response.headers.connection).toBe('close')
  await stopped
  agent.destroy()
})

/** Starts a server that answers GET /v1/stream with such content. `open` asks for it. */
async function openStream(mediaType: string, nextContent: () => PassThrough, agent = new Agent({ keepAlive: true })) {
  const stream = operation({
    operationId: 'stream',
    method: 'GET',
    path: '/v1/stream',
    summary: 'Stream',
    scope: 'product::read',
    responses: { 200: new Streamed(mediaType, '') },
    handle: async () => okStream(mediaType, nextContent()),
  })
  const app = createServiceApp({
    logger: createLogger('test', 'silent'),
    db,
    operations: [stream],
    verifyToken: testVerifier(),
  })
  const server = httpServer(app, { HOST: '127.0.0.1', PORT: 0 })
  await server.start?.()
  const { port } = app.server.address() as AddressInfo
  const headers = await headersOf(aCaller())
  const open = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest({ port, path: '/v1/stream', agent, headers }).on('response', resolve).on('error', reject).end()
    })
  return { server, open }
}

it('from its drain on each answer ends its connection, and new ones are accepted', async () => {
  const [first, second] = [new PassThrough(), new PassThrough()]
  const contents = [first, second, new PassThrough().end('3')]
  const { server, open } = await openStream('text/csv', () => contents.shift() ?? new PassThrough())
  first.end('1')
  const before = await open()
  expect([before.headers.connection, await text(before)]).toEqual(['keep-alive', '1'])
  server.drain?.()
  second.end('2')
  for (const content of ['2', '3']) {
    const answer = await open()
    expect([answer.headers.connection, await text(answer)]).toEqual(['close', content])
  }
  await server.stop?.()
})

it('server-sent events that begin after its drain go on until it closes', async () => {
  const content = new PassThrough()
  const { server, open } = await openStream('text/event-stream', () => content)
  server.drain?.()
  content.write('data: 1\n\n')
  const response = await open()
  expect(content.destroyed).toBe(false)
  const body = text(response)
  await server.stop?.()
  expect(await body).toBe('data: 1\n\n')
})

it('server-sent events end as soon as it closes, and so does their connection', async () => {
  const content = new PassThrough()
  const { server, open } = await openStream('text/event-stream', () => content)
  content.write('data: 1\n\n')
  const response = await open()
  const body = text(response)
  await server.stop?.()
  expect(await body).toBe('data: 1\n\n')
  expect(content.destroyed).toBe(true)
})

it('server-sent events that their client does not read do not keep it', async () => {
  const content = new PassThrough()
  const { server, open } = await openStream('text/event-stream', () => content)
  for (let count = 0; count < 64; count++) content.write(Buffer.alloc(1024 * 1024))
  const unread = await open()
  unread.on('error', () => undefined)
  await server.stop?.()
  await eventually('the stream is destroyed', () => content.destroyed)
  unread.destroy()
})

it('another stream comes to its end', async () => {
  const content = new PassThrough()
  const { server, open } = await openStream('text/csv', () => content)
  content.write('a,b\n')
  const body = text(await open())
  const stopped = server.stop?.()
  await eventually('new connections are refused', () =>
    open().then(
      () => false,
      () => true,
    ),
  )
  content.end('1,2\n')
  expect(await body).toBe('a,b\n1,2\n')
  await stopped
})
