import { testVerifier } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import type { Echo } from '../../testing/test-upstream.ts'

const gateway = await testGateway({ trustedProxies: ['127.0.0.1'] })
const { key, id, workspaceId } = await gateway.aKey(['product', 'sale::read'])
const post = (headers: Record<string, string>) => gateway.send<Echo>(key, 'POST', '/v1/products', { body: {}, headers })

describe('towards the service', () => {
  test('only what a service needs to know gets through, whatever was sent', async () => {
    const { body } = await post({
      accept: 'application/json',
      'accept-language': 'yo',
      'idempotency-key': 'once',
      'user-agent': 'shop/1',
      'x-api-key': key,
      'x-internal-token': 'forged',
      'x-internal-workspace': 'forged',
      'x-request-id': 'forged',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-host': 'inside',
      'x-forwarded-proto': 'https',
      'x-real-ip': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      via: '1.1 elsewhere',
      baggage: 'tenant=forged',
      cookie: 'session=1',
      te: 'trailers',
      'proxy-authorization': 'Basic eA==',
      'x-http-method-override': 'DELETE',
    })
    expect(Object.keys(body.headers).sort()).toEqual([
      'accept',
      'accept-language',
      'connection',
      'content-length',
      'content-type',
      'host',
      'idempotency-key',
      'traceparent',
      'user-agent',
      'x-internal-token',
      'x-request-id',
    ])
    expect(JSON.stringify(body.headers)).not.toMatch(/forged|10\.0\.0\.1|sk_live/)
    expect(body.headers).toMatchObject({
      accept: 'application/json',
      'idempotency-key': 'once',
      'accept-language': 'yo',
    })
  })

  test('a header that Connection names cannot take the token away', async () => {
    const { body } = await post({ connection: 'close, x-internal-token, x-request-id' })
    expect(body.headers['x-internal-token']).toMatch(/^ey/)
  })

  test("the token tells who calls and which service it is for, signed with the gateway's key", async () => {
    const token = (await post({})).body.headers['x-internal-token']
    expect(await testVerifier('catalog')(token, new Date(gateway.now()))).toMatchObject({
      isService: false,
      caller: {
        workspaceId,
        livemode: true,
        keyId: id,
        appKeyId: null,
        scopes: ['product', 'sale::read'],
        productStatuses: ['ACTIVE', 'HIDDEN', 'ARCHIVED'],
      },
    })
    await expect(testVerifier('orders')(token, new Date(gateway.now()))).rejects.toThrow()
  })

  test('the token is used again while more than 15 s of its minute are left, also after a new look-up', async () => {
    const token = async () => (await post({})).body.headers['x-internal-token']
    gateway.passTime(120_000)
    const first = await token()
    gateway.passTime(44_000)
    expect(await token()).toBe(first)
    gateway.passTime(1_000)
    expect(await token()).not.toBe(first)
  })

  test('the request id is one of our own, the same for service and client', async () => {
    const answer = await post({ 'x-request-id': 'forged' })
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.body.headers['x-request-id']).toBe(answer.headers['x-request-id'])
  })

  test('a well-formed traceparent goes on without the decision to record it, another is replaced', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-'
    expect((await post({ traceparent: `${traceparent}01` })).body.headers.traceparent).toBe(`${traceparent}00`)
    expect((await post({ traceparent: `00-${'4'.repeat(10_000)}-01` })).body.headers.traceparent).toHaveLength(55)
    expect((await post({ traceparent: '00-0-0-00' })).body.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-/)
  })
})

describe('towards the client', () => {
  test('only what is meant for it gets through', async () => {
    gateway.catalog.answer = (_request, response) => {
      const forClient = { 'content-type': 'application/json', location: '/v1/products/1', etag: '"1"', allow: 'GET' }
      const inside = {
        server: 'fastify',
        'x-powered-by': 'node',
        'x-internal-host': 'catalog-7f9',
        'x-request-id': 'inside',
        'x-ratelimit-limit': '1',
        'set-cookie': 'a=1',
        'access-control-allow-origin': '*',
      }
      response.writeHead(201, { ...forClient, ...inside }).end('{}')
    }
    const { status, headers } = await gateway.send(key, 'POST', '/v1/products', { body: {} })
    expect(status).toBe(201)
    expect(Object.keys(headers).sort()).toEqual([
      'allow',
      'cache-control',
      'connection',
      'content-type',
      'date',
      'etag',
      'keep-alive',
      'location',
      'transfer-encoding',
      'vary',
      'x-content-type-options',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'x-request-id',
    ])
    expect(headers['x-request-id']).not.toBe('inside')
    expect(headers['x-ratelimit-limit']).toBe('100000')
  })
})

test.each([
  ['an answer', '/v1/products'],
  ['a refusal', '/v1/none'],
  ['what has no route', '/none'],
  ['a file', '/.well-known/jwks.json'],
])('%s is no other type than it says, and browsers that come by https stay with it (OP-324)', async (_what, path) => {
  for (const [protocol, only] of [['https', 'max-age=31536000'] as const, ['http', undefined] as const]) {
    const { headers } = await gateway.send(key, 'GET', path, { headers: { 'x-forwarded-proto': protocol } })
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['strict-transport-security']).toBe(only)
  }
})

test.each([
  ['an answer', (good: string) => good, '/v1/products', 201],
  ['a refusal', () => 'sk_live_wrong', '/v1/products', 401],
  ['the admin API', () => 'wrong', '/admin/v1/workspaces', 401],
])('%s is kept by no cache, and depends on the key', async (_what, keyOf, path, status) => {
  const answer = await gateway.send(keyOf(key), 'GET', path)
  expect(answer.status).toBe(status)
  expect(answer.headers).toMatchObject({
    'cache-control': 'private, no-store',
    vary: expect.stringMatching(/^Authorization, X-Api-Key/),
  })
})
