import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import type { Connections } from './connections.ts'
import { guardedAgent } from './guarded-agent.ts'
import { NameCache } from './name-cache.ts'
import { askNameServers } from './name-servers.ts'
import { type Exchange, post } from './post.ts'
import { listeningOn } from './testing/listening-on.ts'
import { type Records, startNameServer } from './testing/name-server.ts'

const zone: Record<string, Records> = {}
const nameServer = await startNameServer(zone)
const clock = { now: 0 }
const { find } = new NameCache(askNameServers({ servers: [nameServer.address] }), () => clock.now)
const agents = {
  locally: guardedAgent({ allowLoopback: true }, { find }),
  everywhere: guardedAgent({ allowLoopback: false }, { find }),
}
afterAll(() => Promise.all(Object.values(agents).map((agent) => agent.destroy())))

/** A second address of this machine: a receiver that is reached there is reached nowhere else. */
const OTHER = '127.0.0.2'
const received: { host: string | undefined; at: string | undefined }[] = []
const answer = (request: IncomingMessage, response: ServerResponse) => {
  received.push({ host: request.headers.host, at: request.socket.localAddress })
  response.writeHead(204, { connection: 'close' }).end()
}
const port = await listeningOn(createServer(answer), OTHER)

const send = (url: string, agent: Connections = agents.locally): Promise<Exchange> =>
  post(agent, { url: new URL(url), headers: {}, body: Buffer.from('{}') }, { timeoutMs: 5000 })
const blocked = (host: string) => ({ class: 'blocked', message: `${host} is not a public address` })

test('a request goes to the address that was found for its name', async () => {
  zone['receiver.test'] = { A: [OTHER] }
  expect((await send(`http://receiver.test:${port}/hook`)).failure).toBeNull()
  expect(received.at(-1)).toEqual({ host: `receiver.test:${port}`, at: OTHER })
})

describe('an address that is not public is refused before anything connects to it (OP-70)', () => {
  test.each([OTHER, '10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:7f00:2]', '[64:ff9b::7f00:2]', 'localhost'])(
    '%s',
    async (host) => {
      const before = received.length
      const { failure, response } = await send(`http://${host}:${port}`, agents.everywhere)
      expect({ failure, response }).toEqual({ failure: blocked(host.replace(/[[\]]/g, '')), response: null })
      expect(received).toHaveLength(before)
    },
  )
})

describe('a name with one address that is not public is refused whole (OP-75)', () => {
  test.each<[string, Records]>([
    ['last', { A: ['8.8.8.8', '8.8.4.4', '10.0.0.1'] }],
    ['first', { A: ['10.0.0.1', '8.8.8.8'] }],
    ['over v6', { A: ['8.8.8.8'], AAAA: ['fd00:ec2:0:0:0:0:0:254'] }],
    ['behind an alias', { cname: 'metadata.test' }],
  ])('%s', async (label, records) => {
    const name = `${label.replaceAll(' ', '-')}.test`
    zone['metadata.test'] = { A: ['169.254.169.254'] }
    zone[name] = records
    expect((await send(`http://${name}`, agents.everywhere)).failure).toEqual(blocked(name))
  })
})

test('a name that changes its answer is refused at the next connection, and asked for once each time (OP-70)', async () => {
  const url = `http://rebinding.test:${port}`
  zone['rebinding.test'] = { A: [OTHER], ttl: 1 }
  expect((await send(url)).failure).toBeNull()
  zone['rebinding.test'] = { A: ['10.0.0.1'], ttl: 1 }
  expect((await send(url)).failure).toBeNull()
  clock.now += 1000
  expect((await send(url)).failure).toEqual(blocked('rebinding.test'))
  const asked = nameServer.queries.filter((query) => query === 'A rebinding.test')
  expect(asked).toHaveLength(2)
})

test('a name without an address is a failure of its name', async () => {
  expect((await send('https://unknown.test')).failure).toEqual({ class: 'dns', message: 'unknown.test has no address' })
})

test('a dot at the end of a name is no part of it', async () => {
  zone['dotted.test'] = { A: [OTHER] }
  expect((await send(`http://dotted.test.:${port}`)).failure).toBeNull()
  expect((await send('http://localhost.', agents.everywhere)).failure).toEqual(blocked('localhost.'))
})

test('a port of another protocol is refused at each connection as well (OP-99)', async () => {
  const { failure } = await send('https://8.8.8.8:25', agents.everywhere)
  expect(failure).toEqual({ class: 'blocked', message: 'port 25 is not allowed' })
})
