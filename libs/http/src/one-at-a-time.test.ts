import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { oneAtATime } from './one-at-a-time.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** Opens a connection to a server with this handler. */
async function connectTo(handler: Handler) {
  const server = createServer(oneAtATime((request, response) => void handler(request, response)))
  whenDone(() => server.close())
  whenDone(() => server.closeAllConnections())
  const accepted = once(server, 'connection')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  whenDone(() => client.destroy())
  let received = ''
  client.on('data', (text) => {
    received += text
  })
  const [connection] = await accepted
  return { client, connection, received: () => received }
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`

it('requests that a client sends at once are handled one after the other, and others get their turn in between', async () => {
  const handled: string[] = []
  const { client, received } = await connectTo(({ url = '' }, response) => {
    handled.push(url)
    setImmediate(() => handled.push('turn'))
    response.end(`answer ${url}`)
  })
  client.write(get('/1') + get('/2') + get('/3'))
  await eventually('all are answered', () => received().includes('answer /3'))
  expect(received().match(/answer \/\d/g)).toEqual(['answer /1', 'answer /2', 'answer /3'])
  expect(handled).toEqual(['/1', 'turn', '/2', 'turn', '/3', 'turn'])
})

it('a body is read when its request is handled, however large, and the next request after it', async () => {
  const body = 'a'.repeat(1_000_000)
  const { client, received } = await connectTo(async (request, response) => {
    response.end(`${(await text(request)).length};`)
  })
  const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  client.write(get('/') + post + post + get('/last'))
  const lengths = () => received().match(/\d+(?=;)/g)
  await eventually('all are answered', () => lengths()?.length === 4)
  expect(lengths()).toEqual(['0', '1000000', '1000000', '0'])
})

it('no more is read while requests wait, and all are answered in the end', async () => {
  const waiting: ServerResponse[] = []
  let isOver = false
  const { client, connection, received } = await connectTo((_request, response) => {
    if (isOver) response.end()
    else waiting.push(response)
  })
  const requests = 8000
  const bytes = get('/').repeat(requests)
  client.write(bytes)
  await eventually('one request is handled', () => waiting.length === 1)
  await new Promise(setImmediate)
  expect(connection.bytesRead).toBeLessThan(150_000)
  isOver = true
  waiting[0]?.end()
  await eventually('all are answered', () => received().match(/200 OK/g)?.length === requests)
  expect(connection.bytesRead).toBe(bytes.length)
  expect(waiting).toHaveLength(1)
})

it('no more is read while requests wait behind an answer that its client takes slowly', async () => {
  const chunks = Array.from({ length: 128 }, () => Buffer.alloc(64 * 1024))
  const { client, connection } = await connectTo((_request, response) => void Readable.from(chunks).pipe(response))
  client.pause()
  client.write(get('/'))
  await eventually('the answer waits for the client', () => connection.writableNeedDrain)
  client.write(get('/').repeat(20_000))
  let taken = 0
  while (taken < 4 * 1024 * 1024) {
    const chunk = client.read(Math.min(client.readableLength, 16 * 1024)) as string | null
    taken += chunk?.length ?? 0
    await new Promise(setImmediate)
  }
  expect(connection.bytesRead).toBeLessThan(150_000)
})

it('what one request logs and traces is not in the context of another one of its connection', async () => {
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const { client } = await connectTo(({ url = '' }, response) => {
    seen.push(context.getStore())
    context.run(url, () => setImmediate(() => response.end()))
  })
  client.write(get('/1') + get('/2') + get('/3'))
  await eventually('all are handled', () => seen.length === 3)
  expect(seen).toEqual([undefined, undefined, undefined])
})

it('what comes after the last answer of a connection is not handled', async () => {
  const handled: string[] = []
  const { client, connection } = await connectTo(({ url = '' }, response) => {
    handled.push(url)
    response.writeHead(200, { connection: 'close' }).end()
  })
  client.write(get('/1') + get('/2') + get('/3'))
  await once(client.resume(), 'close')
  await eventually('the server has closed it, too', () => connection.destroyed)
  expect(handled).toEqual(['/1'])
})

it('nothing is handled once the connection is broken off', async () => {
  const handled: ServerResponse[] = []
  const { client, connection } = await connectTo((_request, response) => void handled.push(response))
  client.write(get('/1') + get('/2'))
  await eventually('one request is handled', () => handled.length === 1)
  connection.destroy()
  await once(client, 'close')
  handled[0]?.end()
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(handled).toHaveLength(1)
})
