import { testDatabase } from '@backoffice/testing/database.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { openApiDocument } from './openapi.ts'
import { operation } from './operation.ts'
import { ok } from './reply.ts'
import { expectRefusal, THINGS, thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')
const byName = operation({
  operationId: 'byName',
  method: 'GET',
  path: '/v1/names/{name}',
  summary: 'Read a thing by its name',
  scope: 'product::read',
  deprecated: { since: '2026-11-26', instead: 'Use GET /v1/things.' },
  params: z.strictObject({ name: z.string() }),
  responses: { 200: z.unknown() },
  handle: async ({ params }) => ok(params),
})
const many = operation({
  operationId: 'manyThings',
  method: 'POST',
  path: '/v1/things/batch',
  summary: 'Create many things',
  scope: 'product::create',
  responses: { 200: z.unknown() },
  handle: async () => ok({}),
})
const { send } = await thingsApi(db, { operations: [...THINGS, byName, many] })
const ID = '7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11'

it.each([
  ['GET', '/v1/nothing'],
  ['POST', '/v1/nothing'],
  ['PROPFIND', '/v1/nothing'],
  ['GET', '/'],
  ['GET', '//v1/things'],
  ['GET', '/V1/things'],
  ['GET', `/v1/things/${ID}/parts`],
  ['GET', '/v1/../v1/things'],
  ['GET', '/healthz'],
])('%s %s is no operation: not_found, naming both (OP-02)', async (method, path) => {
  expectRefusal(await send(method, path), 404, 'not_found', `${method} ${path}: no such operation`)
})

it.each([
  ['malformed', { body: Buffer.from('{') }],
  ['of another content type', { body: Buffer.from('a'), contentType: 'text/plain' }],
  ['too large', { body: Buffer.alloc(2_000_000) }],
])('an unknown operation is not_found even when the body is %s', async (_how, sent) => {
  expectRefusal(await send('POST', '/v1/nothing?page=x', sent), 404, 'not_found', 'POST /v1/nothing: no such operation')
})

it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'M-SEARCH'])(
  '%s where other methods are is method_not_allowed with Allow, whatever the body (OP-02)',
  async (method) => {
    const answer = await send(method, '/v1/things', { body: Buffer.from('{') })
    expectRefusal(answer, 405, 'method_not_allowed', `${method} is not allowed here; allowed: POST, GET, HEAD`)
    expect(answer.headers.allow).toBe('POST, GET, HEAD')
    expect(await admin`select from outbox`).toHaveLength(0)
  },
)

it.each(['GET', 'HEAD', 'PUT', 'DELETE'])(
  '%s of a path of its own is not one of the thing that it would name',
  async (method) => {
    const { status, headers } = await send(method, '/v1/things/batch')
    expect([status, headers.allow]).toEqual([405, 'POST'])
  },
)

it('answers HEAD where there is a GET, as GET without the body', async () => {
  const { status, headers, body } = await send('HEAD', `/v1/things/${ID}`)
  expect([status, headers['content-length'], body]).toEqual([200, String(JSON.stringify({ id: ID }).length), undefined])
})

it('says no length in a 304 to HEAD: only that of the 200 may be there (RFC 9110, 8.6)', async () => {
  const { status, headers } = await send('HEAD', `/v1/things/${ID}`, { headers: { 'if-none-match': '*' } })
  expect([status, headers['content-length']]).toEqual([304, undefined])
})

it.each([
  '',
  '..',
  '7',
  'cups',
  ID.slice(1),
  `${ID}0`,
  ID.replaceAll('-', ''),
  `${ID}%20`,
  '%00',
  '%F0%9F%98%80',
  'x'.repeat(2000),
])('a path id that is no UUID is bad_request naming it: %s', async (id) => {
  expectRefusal(await send('GET', `/v1/things/${id}`), 400, 'bad_request', 'id: must ')
})

it('reads a path decoded, and refuses a NUL in it', async () => {
  expect((await send('GET', '/v1/names/caf%C3%A9%2F1')).body).toEqual({ name: 'café/1' })
  expectRefusal(await send('GET', '/v1/names/a%00b'), 400, 'bad_request', 'name: must not contain NUL characters')
})

it('takes a UUID in either case', async () => {
  expect((await send('GET', `/v1/things/${ID.toUpperCase()}`)).status).toBe(200)
})

it.each([
  ['%ZZ', 'path: each % must begin the encoding of UTF-8'],
  ['%E2%82', 'path: each % must begin the encoding of UTF-8'],
  ['%FF', 'path: each % must begin the encoding of UTF-8'],
  ['%', 'path: each % must begin the encoding of UTF-8'],
  ['x'.repeat(4000), 'path: each part must have at most 2048 characters'],
])('a path that cannot be read is bad_request: %s', async (id, message) => {
  expectRefusal(await send('GET', `/v1/things/${id}`), 400, 'bad_request', message)
})

it.each([
  ['page=0', 'page: must be an integer from 1 to 1000000000'],
  ['page=-1', 'page: '],
  ['page=1.5', 'page: '],
  ['page=1e3', 'page: '],
  ['page=abc', 'page: '],
  ['page=', 'page: '],
  ['page=%ZZ', 'page: '],
  ['page=9007199254740993', 'page: '],
  ['limit=0', 'limit: must be an integer from 1 to 100'],
  ['limit=101', 'limit: '],
  ['limit=abc', 'limit: '],
  ['size=0', 'size: must be an integer from 1 to 100'],
  ['size=101', 'size: '],
  ['page=1&page=2', 'page: '],
  ['limit=10&limit=10', 'limit: '],
  ['search=a%00b', 'search: must not contain NUL characters'],
  ['search=a&search=b', 'search: '],
  ['colour=red', 'colour: unknown parameter; this operation takes page, limit, size, search'],
  ['__proto__=1', '__proto__: unknown parameter'],
  ['constructor=1', 'constructor: unknown parameter'],
])('the query %s is bad_request naming the parameter (OP-03)', async (query, message) => {
  expectRefusal(await send('GET', `/v1/things?${query}`), 400, 'bad_request', message)
})

it('takes page, limit and size up to their ends, and percent-encoding (OP-03)', async () => {
  const { body } = await send('GET', '/v1/things?page=1000000000&limit=100&size=1&search=%C3%A9%20+%F0%9F%98%80')
  expect(body).toEqual({ page: 1_000_000_000, limit: 100, size: 1, search: 'é  😀' })
})

it('refuses a query where none is declared', async () => {
  expectRefusal(
    await send('GET', `/v1/things/${ID}?expand=parts`),
    400,
    'bad_request',
    'expand: unknown parameter; this operation takes none',
  )
})

it('a path with {id} alone has an id, without a schema of its own', async () => {
  expect((await send('GET', `/v1/things/${ID.toUpperCase()}`)).body).toEqual({ id: ID })
  expectRefusal(await send('GET', '/v1/things/7'), 400, 'bad_request', 'id: must be a UUID')
})

it('a deprecated operation says on each answer since when and until when, twelve months later (OP-263)', async () => {
  const ends = { deprecation: '@1795651200', sunset: 'Fri, 26 Nov 2027 00:00:00 GMT' }
  expect(await send('GET', '/v1/names/Ada')).toMatchObject({ status: 200, headers: ends })
  expect(await send('GET', '/v1/names/Ada?page=x')).toMatchObject({ status: 400, headers: ends })
  expect((await send('GET', `/v1/things/${ID}`)).headers).not.toHaveProperty('deprecation')
  const { paths } = openApiDocument([byName]) as { paths: Record<string, object> }
  expect(paths['/v1/names/{name}']).toMatchObject({
    get: { deprecated: true, description: expect.stringContaining('ends on 2027-11-26. Use GET /v1/things.') },
  })
})
