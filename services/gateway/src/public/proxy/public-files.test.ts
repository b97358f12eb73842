import { type IncomingMessage, request as openRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import { type Echo, echo } from '../../testing/test-upstream.ts'

const UNDER_WAY = 3
const SLOTS = { slots: UNDER_WAY + 1, share: 1, waiting: 0, waitMs: 1_000 }
const gateway = await testGateway({ limits: { connectMs: 2_000, answerMs: 2_000, slots: SLOTS } })
const { catalog } = gateway
const FILE = '/assets/0190b3a0-0000-7000-8000-000000000001/0190b3a0-0000-7000-8000-000000000002/file.png'

beforeEach(() => {
  catalog.answer = echo
  catalog.received.length = 0
})

/** Sends a request line as it is: no client resolves dots in it. */
async function send(path: string, method = 'GET', headers = {}, localAddress = '127.0.0.1') {
  const request = openRequest(gateway.url, { method, path, headers, localAddress, agent: false }).end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

describe('a stored file (OP-91)', () => {
  test.each([FILE, FILE.replace('file.', 'thumbnail.'), `${FILE}?v=2`])('%s is read without a key', async (path) => {
    const { status, body } = await send(path)
    const passedOn: Echo = JSON.parse(body)
    expect([status, passedOn.method, passedOn.url]).toEqual([200, 'GET', path.split('?')[0]])
  })

  test('its service learns what the client has and wants of it, and no key or token', async () => {
    const wanted = { range: 'bytes=0-1', 'if-range': '"a"', 'if-none-match': '"b"' }
    const secret = { authorization: 'Bearer sk_live_x', cookie: 'a=b', 'x-internal-token': 'forged' }
    const { headers }: Echo = JSON.parse((await send(FILE, 'GET', { ...wanted, ...secret })).body)
    expect(headers).toMatchObject(wanted)
    for (const name of Object.keys(secret)) expect(headers).not.toHaveProperty(name)
  })

  test('the client learns how to keep it, and that it is no page', async () => {
    const told = {
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-disposition': 'inline',
      'content-range': 'bytes 0-1/10',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-type': 'image/png',
      etag: '"a"',
      'x-content-type-options': 'nosniff',
    }
    catalog.answer = (_request, response) => void response.writeHead(206, { ...told, server: 'x' }).end('ab')
    const { status, headers, body } = await send(FILE)
    expect([status, body]).toEqual([206, 'ab'])
    expect(headers).toMatchObject(told)
    expect(Object.keys(headers).filter((name) => /^(server|x-ratelimit.*)$/.test(name))).toEqual([])
  })

  test('HEAD and 304 have no body', async () => {
    catalog.answer = (_request, response) => void response.writeHead(200, { 'content-length': '7' }).end()
    expect(await send(FILE, 'HEAD')).toMatchObject({ status: 200, headers: { 'content-length': '7' }, body: '' })
    catalog.answer = (_request, response) => void response.writeHead(304, { etag: '"a"' }).end()
    expect(await send(FILE)).toMatchObject({ status: 304, headers: { etag: '"a"' }, body: '' })
  })
})

test.each([
  '/assets',
  '/assets/',
  '/assets/x.png',
  '/assets/../internal/stock/take',
  '/assets/%2e%2e/internal/stock/take',
  FILE.replace('/file.png', '/../../../internal/stock/take'),
  FILE.replace('file.png', '..%2f..%2f..%2fv1%2fproducts'),
  FILE.replace('file.png', 'file.png%00'),
  FILE.replace('file.png', 'file.png/'),
  FILE.replace('file.png', '.png'),
  FILE.replace('file.png', '..\\file.png'),
  FILE.replace('/assets', '//assets'),
])('%s is not_found and reaches no service', async (path) => {
  const { status, headers, body } = await send(path)
  expect(status).toBe(404)
  expect(JSON.parse(body).error).toMatchObject({ code: 'not_found', request_id: headers['x-request-id'] })
  expect(catalog.received).toEqual([])
})

test.each(['POST', 'PUT', 'DELETE'])('%s is method_not_allowed', async (method) => {
  expect(await send(FILE, method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  expect(catalog.received).toEqual([])
})

test('files that are taken slowly are in the way of nothing else, and too many of an address are rate_limited', async () => {
  const { key } = await gateway.aKey()
  const waiting: (() => void)[] = []
  catalog.answer = (request, response) => {
    if (request.url?.startsWith('/assets')) waiting.push(() => response.end())
    else return echo(request, response)
  }
  const slow = Array.from({ length: UNDER_WAY }, () => send(FILE))
  await expect.poll(() => waiting.length).toBe(UNDER_WAY)
  const { status, headers, body } = await send(FILE)
  expect([status, headers['retry-after'], JSON.parse(body).error.code]).toEqual([429, '1', 'rate_limited'])
  expect((await gateway.send(key, 'GET', '/v1/products')).status).toBe(200)
  expect((await gateway.send(key, 'POST', '/v1/assets', { body: 'a' })).status).toBe(200)
  // Another address finds a share free.
  const other = send(FILE, 'GET', {}, '127.0.0.2')
  await expect.poll(() => waiting.length).toBe(UNDER_WAY + 1)
  for (const end of waiting) end()
  for (const answer of [...slow, other]) expect((await answer).status).toBe(200)
})

test('files that nobody reads end at their service too, and their slots are free again', async () => {
  const hasty = await testGateway({
    limits: { connectMs: 2_000, answerMs: 20_000, slots: SLOTS },
    writeLimits: { bytes: 64 * 1024, withinMs: 200 },
  })
  let open = 0
  hasty.catalog.answer = (_request, response) => {
    open++
    response.once('close', () => void open--)
    response.writeHead(200).end(Buffer.alloc(64 * 1024 * 1024))
  }
  for (let count = 0; count < UNDER_WAY; count++) {
    const request = openRequest(hasty.url + FILE, { agent: false }).end()
    whenDone(() => void request.destroy())
    await new Promise((resolve) => request.on('response', (response) => resolve(response.on('error', () => undefined))))
  }
  await eventually('they end at the service', () => open === 0)
  hasty.catalog.answer = (_request, response) => void response.end('{}')
  const answers = Array.from({ length: UNDER_WAY }, () => hasty.send(undefined, 'GET', FILE))
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(UNDER_WAY).fill(200))
})
