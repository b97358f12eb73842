import { createServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { guardedAgent } from './guarded-agent.ts'
import { post } from './post.ts'
import { selfSigned, trustSelfSigned } from './testing/certificate.ts'
import { listeningOn } from './testing/listening-on.ts'

const agent = guardedAgent({ allowLoopback: true }, { find: async () => ['127.0.0.1'] })
afterAll(() => agent.destroy())

const seen: unknown[] = []
const receiver = createServer(selfSigned, ({ httpVersion, socket }, response) => {
  if (socket instanceof TLSSocket) {
    const { alpnProtocol: alpn, servername } = socket as TLSSocket & { servername?: string | false }
    seen.push({ httpVersion, alpn, servername, tls: socket.getProtocol() })
  }
  response.writeHead(204, { connection: 'close' }).end()
})
const port = await listeningOn(receiver)

const send = (host: string, to = port) =>
  post(agent, { url: new URL(`https://${host}:${to}`), headers: {}, body: Buffer.from('{}') }, { timeoutMs: 5000 })

test('a certificate that nobody vouches for is a failure of TLS, and the request is not sent', async () => {
  expect((await send('receiver.test')).failure).toEqual({ class: 'tls', message: 'self-signed certificate' })
  expect(seen).toEqual([])
})

test('a request names its server, over TLS 1.3 and HTTP/1.1', async () => {
  trustSelfSigned()
  for (const host of ['receiver.test', 'receiver.test.']) {
    expect((await send(host)).failure).toBeNull()
    expect(seen.at(-1)).toEqual({ httpVersion: '1.1', alpn: 'http/1.1', servername: 'receiver.test', tls: 'TLSv1.3' })
  }
})

test('a literal address is no server name, and the certificate must be its own', async () => {
  trustSelfSigned()
  expect((await send('127.0.0.1')).failure).toBeNull()
  expect(seen.at(-1)).toMatchObject({ servername: false })
})

test('a certificate of another name is a failure of TLS', async () => {
  trustSelfSigned()
  const { failure } = await send('other.test')
  expect(failure?.class).toBe('tls')
  expect(failure?.message).toContain("Host: other.test. is not in the cert's altnames")
})

test('a receiver that knows no newer TLS than 1.1 is a failure of TLS', async () => {
  trustSelfSigned()
  const old = createTlsServer({
    ...selfSigned,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })
  old.on('tlsClientError', () => undefined)
  expect((await send('receiver.test', await listeningOn(old))).failure?.class).toBe('tls')
})

test('a receiver that does not speak TLS is a failure of TLS', async () => {
  const plain = createTcpServer((socket) => void socket.on('error', () => undefined).end('hello\r\n'))
  expect((await send('receiver.test', await listeningOn(plain))).failure?.class).toBe('tls')
})

test('a request on a kept connection that the receiver closes over TLS without an answer is sent once more, on a new one (OP-99)', async () => {
  trustSelfSigned()
  const requests = new Map<unknown, number>()
  const closing = createServer(selfSigned, ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    if (requests.get(socket) === 1) response.writeHead(204).end()
    else socket.end()
  })
  const to = await listeningOn(closing)
  for (let sent = 0; sent < 2; sent++) expect((await send('receiver.test', to)).failure).toBeNull()
  expect([...requests.values()]).toEqual([2, 1])
})
