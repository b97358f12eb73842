import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { SendingError } from './failure.ts'
import { guardedAgent } from './guarded-agent.ts'
import { type Exchange, post } from './post.ts'
import { tunnelThrough } from './proxy-tunnel.ts'
import { selfSigned, trustSelfSigned } from './testing/certificate.ts'
import { startConnectProxy } from './testing/connect-proxy.ts'
import { listeningOn } from './testing/listening-on.ts'

trustSelfSigned()

const unresolvable = async (name: string) => {
  throw new SendingError('dns', `${name} has no address`)
}
const proxy = await startConnectProxy()
const secureProxy = await startConnectProxy('https')
afterEach(() => proxy.refuseWith(undefined))

const receiver = await startReceiver()
const port = new URL(receiver.url).port
let connections = 0
const answer: RequestListener = (_, response) => response.writeHead(204).end()
let answering = answer
const secureReceiver = createHttpsServer(selfSigned, (request, response) => void answering(request, response))
secureReceiver.on('connection', () => connections++)
const securePort = await listeningOn(secureReceiver)

async function send(
  url: string,
  {
    via = `http://${proxy.address}`,
    find = unresolvable as (name: string) => Promise<readonly string[]>,
    allowLoopback = true,
    times = 1,
  } = {},
): Promise<Exchange> {
  const agent = guardedAgent({ allowLoopback }, { find, proxy: new URL(via) })
  const send = () => post(agent, { url: new URL(url), headers: {}, body: Buffer.from('{"a":1}') }, { timeoutMs: 5000 })
  for (let sent = 1; sent < times; sent++) await send()
  const exchange = await send()
  await agent.destroy()
  return exchange
}

test('a request goes through the proxy, which resolves the name, and TLS is with the receiver', async () => {
  expect((await send(`https://receiver.test:${securePort}`)).failure).toBeNull()
  expect(proxy.asked.at(-1)).toEqual({ target: `receiver.test:${securePort}`, authorization: undefined })
  expect((await send(`https://other.test:${securePort}`)).failure?.class).toBe('tls')
})

test('a tunnel is kept for the next request to its origin', async () => {
  const [before, asked] = [connections, proxy.asked.length]
  await send(`https://receiver.test:${securePort}`, { times: 5 })
  expect([connections - before, proxy.asked.length - asked]).toEqual([1, 1])
})

test('what is sent over http in a local stack goes through a tunnel too', async () => {
  expect((await send(`http://localhost:${port}/hook`)).failure).toBeNull()
  expect(proxy.asked.at(-1)?.target).toBe(`localhost:${port}`)
  expect(receiver.requests.at(-1)).toMatchObject({ path: '/hook', body: Buffer.from('{"a":1}') })
})

test('credentials in the URL are the proxy’s, and the receiver does not see them', async () => {
  await send(`http://localhost:${port}`, { via: `http://us%40er:p%3Ass@${proxy.address}` })
  expect(proxy.asked.at(-1)?.authorization).toBe(`Basic ${Buffer.from('us@er:p:ss').toString('base64')}`)
  expect(receiver.requests.at(-1)?.headers).not.toHaveProperty('proxy-authorization')
})

test('a proxy may be reached over TLS, with a certificate of its own name and not of the receiver’s', async () => {
  const via = `https://${secureProxy.address}`
  expect((await send(`https://receiver.test:${securePort}`, { via })).failure).toBeNull()
  expect((await send(`https://other.test:${securePort}`, { via })).failure?.class).toBe('tls')
  expect(secureProxy.asked.at(-1)?.target).toBe(`other.test:${securePort}`)
})

describe('what is forbidden is refused before the proxy is asked (OP-99)', () => {
  test.each([
    ['a literal address', 'https://10.0.0.1', unresolvable],
    ['loopback', 'https://127.0.0.1', unresolvable],
    ['an IPv6 address', 'https://[fd00:ec2::254]', unresolvable],
    ['a name that resolves to one', 'https://inside.test', async () => ['8.8.8.8', '10.0.0.1']],
  ])('%s', async (_, url, find) => {
    const asked = proxy.asked.length
    expect((await send(url, { find, allowLoopback: false })).failure?.class).toBe('blocked')
    expect(proxy.asked).toHaveLength(asked)
  })
})

test('a public address is asked for as it is written in a URL', async () => {
  proxy.refuseWith(502)
  await send('https://[2001:4860:4860::8888]')
  expect(proxy.asked.at(-1)?.target).toBe('[2001:4860:4860::8888]:443')
})

describe('what the proxy refuses is a failure that does not name it (OP-99)', () => {
  test.each([
    [403, 'blocked'],
    [407, 'connection'],
    [502, 'connection'],
    [503, 'connection'],
    [504, 'timeout'],
  ])('%i is %s', async (status, expected) => {
    proxy.refuseWith(status)
    const { failure } = await send(`https://receiver.test:${securePort}`)
    expect(failure).toEqual({ class: expected, message: `the egress proxy answered ${status}` })
  })
})

test('a proxy that cannot be reached is a failure of the connection, not of the receiver', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: closed } = server.address() as AddressInfo
  server.close()
  const { failure } = await send('https://receiver.test', { via: `http://user:secret@127.0.0.1:${closed}` })
  expect(failure).toEqual({ class: 'connection', message: 'the egress proxy cannot be reached' })
})

test.each([proxy, secureProxy])(
  'a tunnel that breaks, under a request or idle, is made anew for the next request',
  async (broken) => {
    const scheme = broken === proxy ? 'http' : 'https'
    const agent = guardedAgent(
      { allowLoopback: true },
      { find: unresolvable, proxy: new URL(`${scheme}://${broken.address}`) },
    )
    const send = () =>
      post(
        agent,
        { url: new URL(`https://receiver.test:${securePort}`), headers: {}, body: Buffer.from('{}') },
        { timeoutMs: 5000 },
      )
    const breakAll = async () => {
      for (const tunnel of broken.tunnels) tunnel.resetAndDestroy()
      await eventually('they are gone', () => broken.tunnels.size === 0)
    }
    expect((await send()).failure).toBeNull()
    await breakAll()
    answering = () => void breakAll()
    expect((await send()).failure?.class).toBe('connection')
    answering = answer
    expect((await send()).failure).toBeNull()
    await agent.destroy()
  },
)

test('a proxy that does not answer is waited for a limited time', async () => {
  proxy.refuseWith(0)
  await expect(tunnelThrough(new URL(`http://${proxy.address}`), 100)('receiver.test:443')).rejects.toMatchObject({
    failureClass: 'timeout',
    message: 'the egress proxy did not answer within 100 ms',
  })
})
