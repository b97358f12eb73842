import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { oneAtATime, WAITING_AT_MOST } from './one-at-a-time.ts'

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
  // What it still sends meets a connection that the server has closed.
  client.on('error', () => undefined)
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

it('a connection on which 64 requests wait is answered in whole, and one with more is closed', async () => {
  const connectionOf = async () => {
    const handled: ServerResponse[] = []
    return { handled, ...(await connectTo((_request, response) => void handled.push(response))) }
  }
  const [full, over] = [await connectionOf(), await connectionOf()]
  full.client.write(get('/').repeat(1 + WAITING_AT_MOST))
  over.client.write(get('/').repeat(2 + WAITING_AT_MOST) + get('/').repeat(10_000))
  await eventually('it is closed', () => over.client.destroyed)
  for (let answered = 0; answered <= WAITING_AT_MOST; answered++) {
    await eventually('the next one is handled', () => full.handled.length > answered)
    full.handled[answered]?.end()
  }
  await eventually('all are answered', () => full.received().match(/200 OK/g)?.length === 1 + WAITING_AT_MOST)
  expect(over.handled).toHaveLength(1)
  expect(over.received()).toBe('')
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
