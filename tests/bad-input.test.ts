import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import type { Product } from '@backoffice/contracts/product.ts'
import { expect, it } from 'vitest'
import { type Answer, apiWith, type Refusal } from './testing/api.ts'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const { gateway } = stack.description()
const { api, id: workspaceId, key } = await newWorkspace(stack.description())
const text = (product: Record<string, unknown>) => JSON.stringify(product)

async function expectRefusal(request: Promise<Answer<Refusal>>, status: number, code: string, message: RegExp) {
  const answer = await request
  expect([answer.status, answer.body?.error?.code]).toEqual([status, code])
  expect(answer.body).toEqual({
    error: { code, message: expect.stringMatching(message), request_id: answer.headers.get('x-request-id') },
  })
  const [written] = await stack.sql`select count(*)::int as n from catalog.product where workspace_id = ${workspaceId}`
  expect(written?.n).toBe(0)
}

const post = (body: unknown, headers?: Record<string, string>) => api('POST', '/v1/products', body, headers)

it.each<[string, () => Promise<Answer<Refusal>>, number, string, RegExp]>([
  ['malformed JSON', () => post('{"name": "Mug",'), 400, 'bad_request', /malformed JSON/],
  ['no body', () => api('POST', '/v1/products'), 400, 'bad_request', /body/],
  ['a body that is no object', () => post('[]'), 400, 'bad_request', /body/],
  [
    'text',
    () => post(text(aProduct()), { 'content-type': 'text/plain' }),
    415,
    'unsupported_media_type',
    /application\/json/,
  ],
  [
    'a form',
    () => post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
    415,
    'unsupported_media_type',
    /json/,
  ],
  ['an unknown route', () => api('GET', '/v1/nothing'), 404, 'not_found', /nothing/],
  ['a route outside the API', () => api('GET', '/etc/passwd'), 404, 'not_found', /passwd/],
  ['an unknown method', () => api('PATCH', '/v1/products', aProduct()), 405, 'method_not_allowed', /PATCH/],
  ['a path id that is no UUID', () => api('GET', '/v1/products/17'), 400, 'bad_request', /^id: must be a UUID$/],
  [
    'a body over 1 MiB',
    () => post(aProduct({ description: 'x'.repeat(1_100_000) })),
    413,
    'payload_too_large',
    /1048576/,
  ],
  [
    'an integer beyond 2^53',
    () => post(text(aProduct()).replace('4,', '9007199254740993,')),
    400,
    'bad_request',
    /^stock: /,
  ],
  ['a NUL character', () => post(aProduct({ name: 'M\0g' })), 400, 'bad_request', /^name: .*NUL/],
  ['invalid UTF-8', () => post(Buffer.from(text(aProduct({ name: 'é' })), 'latin1')), 400, 'bad_request', /UTF-8/],
  ['a __proto__ key', () => post('{"__proto__": {"a": 1}, "name": "Mug"}'), 400, 'bad_request', /__proto__/],
  ['a depth bomb', () => post(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 400, 'bad_request', /32 levels/],
  ['an unknown member', () => post(aProduct({ colour: 'red' })), 400, 'bad_request', /^colour: unknown member$/],
  [
    'an unknown query parameter',
    () => api('POST', '/v1/products?dry_run=1', aProduct()),
    400,
    'bad_request',
    /^dry_run: /,
  ],
])('refuses %s', (_, request, status, code, message) => expectRefusal(request(), status, code, message))

it.each<[string, string | undefined, Record<string, string>]>([
  ['no key', undefined, {}],
  ['a key of no known form', 'secret', {}],
  ['a key that was never issued', key.replace(/.{8}$/, 'AAAAAAAA'), {}],
  ['two different keys', key, { 'x-api-key': key.replace('sk_live', 'sk_test') }],
])('refuses %s with invalid_api_key', (_, presented, headers) =>
  expectRefusal(
    apiWith(gateway, presented)('POST', '/v1/products', aProduct(), headers),
    401,
    'invalid_api_key',
    /key/i,
  ),
)

it('refuses a key without the scope, naming it', async () => {
  const reader = await newWorkspace(stack.description(), ['product::read'])
  const request = reader.api('POST', '/v1/products', aProduct())
  await expectRefusal(request, 403, 'insufficient_scope', /^API key lacks required scope: product::create$/)
})

it("answers another workspace's id with not_found", async () => {
  const other = await newWorkspace(stack.description())
  const { body: product } = await other.api<Product>('POST', '/v1/products', aProduct())
  await expectRefusal(api('GET', `/v1/products/${product.id}`), 404, 'not_found', /^id: /)
  await expectRefusal(api('GET', `/v1/products/${randomUUID()}`), 404, 'not_found', /^id: /)
})

it('refuses what is not HTTP, in the same shape', async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(gateway).port), '127.0.0.1', () => socket.end('GARBAGE\r\n\r\n'))
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('end', () => resolve(received))
    socket.on('error', reject)
  })
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: { code: 'bad_request' } })
})

it("lets no client reach the services' internal operations", async () => {
  for (const path of ['/internal/stock/take', '/v1/internal/stock/take', '/v1/products/../../internal/stock/take']) {
    const { status, body } = await api('POST', path, { order: randomUUID(), lines: [] })
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  const { body } = await api<{ paths: object }>('GET', '/openapi.json')
  expect(Object.keys(body.paths).filter((path) => !path.startsWith('/v1/'))).toEqual([])
})
