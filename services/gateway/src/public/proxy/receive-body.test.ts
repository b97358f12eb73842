import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as openRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { createApp } from '@backoffice/http/app.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { usedMemory } from '@backoffice/testing/used-memory.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import { type Echo, echo } from '../../testing/test-upstream.ts'
import type { Upstreams } from '../upstreams/upstream.ts'
import { addProxy } from './proxy.ts'
import { bodyReceiver } from './receive-body.ts'

const LIMIT = 1024 * 1024
const gateway = await testGateway()
const { catalog } = gateway
const { key } = await gateway.aKey()

beforeEach(() => {
  catalog.answer = echo
  catalog.received.length = 0
})

/** Answers with how many bytes there were. */
const takeWhole: typeof catalog.answer = async (request, response) => {
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  response.end(String(bytes))
}

/** Sends a body of that many bytes in chunks, with or without saying how many before. */
async function send(bytes: number, isAnnounced: boolean, path = '/v1/products') {
  const request = openRequest(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(isAnnounced && { 'content-length': bytes }),
    },
  })
  const chunks = Array.from({ length: Math.floor(bytes / 1024) }, () => Buffer.alloc(1024, 'x'))
  Readable.from([...chunks, Buffer.alloc(bytes % 1024, 'x')].filter((chunk) => chunk.length > 0)).pipe(request)
  return await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', async (response) => {
      resolve({ status: response.statusCode, body: await text(response) })
      request.destroy()
    })
  })
}

describe.each([
  ['with Content-Length', true],
  ['chunked', false],
])('%s', (_how, isAnnounced) => {
  test('a body of 1 MiB is passed on whole', async () => {
    const { status, body } = await send(LIMIT, isAnnounced)
    expect(status).toBe(200)
    expect(JSON.parse(body).body.length).toBe(LIMIT)
  })

  test.each([LIMIT + 1, 8 * LIMIT])('a body of %d bytes is payload_too_large', async (bytes) => {
    const { status, body } = await send(bytes, isAnnounced)
    expect(status).toBe(413)
    const refused: ErrorBody = JSON.parse(body)
    expect(refused.error.code).toBe('payload_too_large')
  })

  test.each(['/v1/assets', '/v1/assets?a=b'])(
    'a file of 20 MiB, with what a form adds to it, goes to %s',
    async (path) => {
      catalog.answer = takeWhole
      expect(await send(21 * LIMIT, isAnnounced, path)).toMatchObject({ status: 200, body: String(21 * LIMIT) })
      expect(await send(21 * LIMIT + 1, isAnnounced, path)).toMatchObject({ status: 413 })
    },
  )

  test.each(['/v1/assets/1', '/v1/products/assets'])('%s takes no file', async (path) => {
    expect(await send(LIMIT + 1, isAnnounced, path)).toMatchObject({ status: 413 })
  })
})

test('a form is passed on as it is', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const body = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\na\r\n--x--\r\n'
  const answer = await gateway.send<Echo>(key, 'POST', '/v1/assets', { body, headers })
  expect(answer.body).toMatchObject({ body, headers })
})

test.each([
  ['announced', true],
  ['sent in chunks', false],
])('a body that is %s too large reaches no service', async (_how, isAnnounced) => {
  await send(LIMIT + 1, isAnnounced)
  expect(catalog.received).toEqual([])
})

test('a service never gets an upload too large to its end', async () => {
  const ended: boolean[] = []
  catalog.answer = (request) => {
    request.on('end', () => ended.push(true)).on('error', () => ended.push(false))
    request.resume()
  }
  await send(21 * LIMIT + 1, false, '/v1/assets')
  await expect.poll(() => ended).toEqual([false])
})

/** Sends the head of a POST and a byte of its body. */
function withhold(withKey: string, headers: Record<string, string | number> = {}) {
  const request = openRequest(`${gateway.url}/v1/products`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${withKey}`, 'content-type': 'application/json', ...headers },
  })
  request.on('error', () => undefined)
  request.write('{')
  whenDone(() => void request.destroy())
  const answer = new Promise<{ status: number | undefined; body: string }>((resolve) => {
    request.on('response', async (response) => resolve({ status: response.statusCode, body: await text(response) }))
  })
  return { request, answer }
}

test('bodies that do not come reach no service, and hold up neither their workspace nor another', async () => {
  const [slow, other] = [await gateway.aKey(), await gateway.aKey()]
  for (let count = 0; count < 600; count++) withhold(slow.key, { 'content-length': 100 })
  for (const { key: from } of [slow, other]) {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? { body: { name: 'a'.repeat(100_000) } } : {}
      expect((await gateway.send(from, method, '/v1/products', body)).status).toBe(200)
    }
  }
  expect(catalog.received.length).toBe(4)
})

test('a body whose client leaves is logged once as 499', async () => {
  const slow = await gateway.aKey()
  const ofSlow = () => gateway.log.filter(({ workspace_id }) => workspace_id === slow.workspaceId)
  const { request } = withhold(slow.key)
  await gateway.send(slow.key, 'GET', '/v1/products')
  request.destroy()
  await eventually('it is logged', () => ofSlow().length > 1)
  expect((await gateway.send(slow.key, 'GET', '/v1/products')).status).toBe(200)
  expect(ofSlow().map(({ status }) => status)).toEqual([200, 499, 200])
})

test('large bodies of a key that do not come are rate_limited, and those of another are taken, also of its workspace', async () => {
  const [slow, other] = [await gateway.aKey(), await gateway.aKey()]
  const withheld = Array.from({ length: 60 }, () => withhold(slow.key))
  const waiting = Array.from({ length: 256 }, () => withhold(slow.key))
  const refused = await Promise.race([...withheld, ...waiting, withhold(slow.key)].map(({ answer }) => answer))
  expect(refused).toMatchObject({ status: 429, body: expect.stringContaining('too many large bodies') })
  for (const from of [other.key, await gateway.anotherKey(slow.workspaceId)]) {
    const answer = await gateway.send(from, 'POST', '/v1/products', { body: { name: 'a'.repeat(200_000) } })
    expect(answer.status).toBe(200)
  }
  for (const { request } of [...withheld, ...waiting]) request.destroy()
  await eventually('there is room again', async () => {
    const again = await gateway.send(slow.key, 'POST', '/v1/products', { body: { name: 'a'.repeat(200_000) } })
    return again.status === 200
  })
})

test.each([
  ['announced', { 'content-length': LIMIT }],
  ['sent in chunks', {}],
])('bodies of nine workspaces that stand still, %s, leave another the memory for its own', async (_how, framing) => {
  const stand = async (bodies: number) => {
    const { key: from } = await gateway.aKey()
    return Array.from({ length: bodies }, () => withhold(from, framing))
  }
  // One workspace has all of the memory but a share, and eight have more than the rest.
  const first = await stand(60)
  const others = (await Promise.all(Array.from({ length: 8 }, () => stand(4)))).flat()
  const { key: victim } = await gateway.aKey()
  await gateway.send(victim, 'GET', '/v1/products')
  for (const length of [10, 1_000_000]) {
    const { request, answer } = withhold(victim, { 'content-length': length + 11 })
    request.end(`"name":"${'a'.repeat(length)}"}`)
    expect(await answer).toMatchObject({ status: 200 })
  }
  const refused = await Promise.race(first.map(({ answer }) => answer))
  expect(refused).toMatchObject({ status: 429, body: expect.stringContaining('too many large bodies') })
  for (const { request } of [...first, ...others]) request.destroy()
})

test.each([
  ['after their heads', false],
  ['with their heads', true],
])('bodies that have arrived %s keep their memory until they are sent', async (_how, isWithHead) => {
  const receive = bodyReceiver({ slots: 3, share: 1, waiting: 1, waitMs: 100, takeOverMs: 0 })
  const server = createServer().listen(0, '127.0.0.1')
  whenDone(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sent = `{}${' '.repeat(20_000)}`
  const received = async (workspaceId: string) => {
    const client = openRequest({ port, method: 'POST', headers: { 'content-length': sent.length }, agent: false })
    client.on('error', () => undefined)
    if (isWithHead) client.end(sent)
    else client.flushHeaders()
    const [request] = await once(server, 'request')
    if (isWithHead) await eventually('the body is there', () => request.complete)
    const body = receive(
      request,
      { bodyBytes: sent.length, isUpload: false },
      { workspaceId, keyId: 'key', signal: new AbortController().signal },
    )
    if (!isWithHead) client.end(sent)
    return body
  }
  const held = [await received('a'), await received('a'), await received('b')]
  await expect(received('c')).rejects.toMatchObject({ code: 'service_unavailable' })
  held[0]?.release()
  expect((await received('c')).content?.toString()).toBe(sent)
})

test('a body in chunks of one byte takes no more memory than its bytes', async () => {
  const chunks = 200_000
  const started = Promise.withResolvers<IncomingMessage>()
  const onStart = (message: unknown) => started.resolve((message as { request: IncomingMessage }).request)
  subscribe('http.server.request.start', onStart)
  whenDone(() => unsubscribe('http.server.request.start', onStart))
  const { request } = withhold(key)
  const { socket } = await started.promise
  const before = usedMemory()
  const sent = Buffer.from('1\r\n \r\n'.repeat(chunks))
  request.socket?.write(sent)
  await eventually('all have arrived', () => socket.bytesRead > sent.length)
  const after = usedMemory()
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(30 * chunks)
})

test('the body of a GET is not passed on', async () => {
  const request = openRequest(`${gateway.url}/v1/products`, {
    method: 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-length': 3 },
  })
  request.end('{}x')
  const body = await new Promise<string>((resolve) => request.on('response', (response) => resolve(text(response))))
  expect(JSON.parse(body)).toMatchObject({ method: 'GET', body: '' })
  expect(JSON.parse(body).headers).not.toHaveProperty('content-length')
})

test('gives its memory back when the request cannot be signed', async () => {
  const app = createApp({ logger: createLogger('test', 'silent'), trustRequestId: false })
  whenDone(() => app.close())
  const signer: Pick<TokenSigner, 'forwarded'> = { forwarded: () => Promise.reject(new Error('no signature')) }
  const upstreams = { catalog: { requests: { name: 'catalog' } } } as unknown as Upstreams
  const admit = async () => aCaller({ workspaceId: 'one' })
  addProxy(app, { admit, signer: signer as TokenSigner, upstreams, clock: () => new Date() })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const statusOf = async () => {
    const request = openRequest({ port, method: 'POST', path: '/v1/products', agent: false })
    request.flushHeaders()
    await once(request, 'socket')
    setImmediate(() => request.end('{}'))
    const [response] = await once(request, 'response')
    return response.resume().statusCode
  }
  // A chunked body takes the memory of 1 MiB.
  for (let n = 0; n <= 64; n++) expect(await statusOf()).toBe(500)
})
