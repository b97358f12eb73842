import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { createApp } from './app.ts'
import { slowConnections } from './write-deadline.ts'

/** More than the kernel takes ahead of a client. */
const LARGE = 64 * 1024 * 1024
const LIMITS = { bytes: 64 * 1024, withinMs: 30_000 }

/** A server that answers once. The client reads what the test reads. */
async function answering(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response))
  const look = slowConnections(server, LIMITS)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const { port } = server.address() as AddressInfo
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, agent: false }, resolve).on('error', reject)
  })
  response.on('error', () => undefined).pause()
  whenDone(() => {
    response.destroy()
    server.close()
  })
  return { look, response, connection: await connected }
}

/** A connection stands still when the kernel has taken what it can. */
const standsStill = async (connection: Socket) => {
  let before = -1
  await eventually('nothing more is taken', () => {
    const waiting = connection.writableLength
    const isStill = waiting > 0 && waiting === before
    before = waiting
    return isStill
  })
}

it('an answer that its client does not take is ended once the time is over, and not before', async () => {
  const { look, connection } = await answering((response) => void response.end(Buffer.alloc(LARGE)))
  await standsStill(connection)
  look(0)
  look(29_999)
  expect(connection.destroyed).toBe(false)
  look(30_000)
  expect(connection.destroyed).toBe(true)
})

it('an answer lasts for as long as its client takes it, although it is one large chunk', async () => {
  const { look, connection, response } = await answering((answer) => void answer.end(Buffer.alloc(LARGE)))
  const { _handle: handle } = connection as unknown as { _handle: { writeQueueSize: number } }
  await standsStill(connection)
  for (let minutes = 0; minutes < 3; minutes++) {
    look(minutes * 60_000)
    const waiting = handle.writeQueueSize
    await eventually('some of it is taken', () => {
      response.read()
      return handle.writeQueueSize <= waiting - LIMITS.bytes
    })
  }
  expect(connection.destroyed).toBe(false)
})

it('an answer of which nothing waits lasts, however little it has', async () => {
  const { look, connection, response } = await answering((answer) => {
    answer.write('data: 1\n\n')
    setImmediate(() => answer.write('data: 2\n\n'))
  })
  await eventually('it is read', () => (response.read() ?? '').includes('2'))
  for (let minutes = 0; minutes < 10; minutes++) look(minutes * 60_000)
  expect(connection.destroyed).toBe(false)
})

it('an app ends the stream of such an answer, and logs why', async () => {
  const lines: Record<string, unknown>[] = []
  const log = (line: object) => void lines.push({ ...line })
  const logger: Logger = Object.assign(createLogger('test', 'silent'), { info: log, error: log })
  const app = createApp({ logger, trustRequestId: false, writeLimits: { bytes: 64 * 1024, withinMs: 60 } })
  const content = new PassThrough()
  content.on('error', () => undefined)
  app.get('/large', (_request, reply) => reply.send(content))
  await app.listen({ host: '127.0.0.1', port: 0 })
  whenDone(() => app.close())
  const { port } = app.server.address() as AddressInfo
  content.write(Buffer.alloc(LARGE))
  get({ port, path: '/large', agent: false }, (response) => response.on('error', () => undefined).pause())
  await eventually('the stream is destroyed', () => content.destroyed)
  expect(await eventually('a log line', () => lines[0])).toMatchObject({
    status: 499,
    error: 'The client takes its answer too slowly',
  })
})
