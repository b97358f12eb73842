import { testDatabase } from '@backoffice/testing/database.ts'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from './operation.ts'
import { ok } from './reply.ts'
import { expectRefusal, thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')
const { send } = await thingsApi(db)
const post = (body: unknown, contentType?: string | null) =>
  send('POST', '/v1/things', { body, ...(contentType !== undefined && { contentType }) })

afterEach(async () => {
  expect(await admin`delete from outbox`, 'rows written by a refused request').toHaveProperty('count', 0)
})

it.each([
  ['an object cut short', '{"name": "mug"', 'body: malformed JSON: '],
  ['a trailing comma', '{"name": "mug",}', 'body: malformed JSON: '],
  ['single quotes', "{'name': 'mug'}", 'body: malformed JSON: '],
  ['two values', '{"name": "mug"} {}', 'body: malformed JSON: '],
  ['a number that is none', '{"name": "mug", "amount": NaN}', 'body: malformed JSON: '],
  ['a raw control character', '{"name": "a\nb"}', 'body: malformed JSON: '],
  ['nothing', '', 'body: is required'],
  ['null', 'null', 'body: must be an object, not null'],
  ['an array', '[]', 'body: must be an object, not an array'],
  ['a string', '"mug"', 'body: must be an object, not a string'],
])('a body that is %s is bad_request', async (_what, text, message) => {
  expectRefusal(await post(Buffer.from(text)), 400, 'bad_request', message)
})

it.each([
  ['an unknown member', { name: 'mug', colour: 'red' }, 'colour: unknown member'],
  [
    'an unknown member of a list item',
    { name: 'mug', parts: [{ sku: 'a' }, { sku: 'b', size: 1 }] },
    'parts[1].size: ',
  ],
  ['a missing member', { amount: 1 }, 'name: is required'],
  ['a member of another type', { name: 7 }, 'name: must be a string, not a number'],
  ['null for a member that cannot be unset', { name: null }, 'name: must be a string, not null'],
  ['2^53', { name: 'mug', amount: 2 ** 53 }, 'amount: '],
  ['-2^53', { name: 'mug', amount: -(2 ** 53) }, 'amount: '],
  ['an integer beyond 2^53 in a map', { name: 'mug', price: { NGN: 2 ** 60 } }, 'price.NGN: '],
  ['a fraction for an integer', { name: 'mug', amount: 1.5 }, 'amount: '],
  [
    'a map key outside its grammar',
    { name: 'mug', price: { naira: 1 } },
    'price.naira: is not an ISO 4217 currency code',
  ],
])('%s is bad_request naming it by its path (OP-02)', async (_what, body, message) => {
  expectRefusal(await post(body), 400, 'bad_request', message)
})

it.each([
  ['9007199254740993', 'an integer that no double holds'],
  ['1e400', 'a number beyond every double'],
])('%s, %s, is bad_request (OP-07)', async (amount) => {
  expectRefusal(await post(Buffer.from(`{"name": "mug", "amount": ${amount}}`)), 400, 'bad_request', 'amount: ')
})

it.each([
  ['an integer of 64 bits', '9223372036854775807', 'at most 9007199254740991'],
  ['a number below all others', '-1e400', 'at least -9007199254740991'],
])(
  '%s in JSON of the client’s own is bad_request: it would be stored as another one (OP-07)',
  async (_, number, limit) => {
    const body = Buffer.from(`{"name": "mug", "labels": {"ids": [1, ${number}]}}`)
    expectRefusal(await post(body), 400, 'bad_request', `labels.ids[1]: must be ${limit}`)
  },
)

it('2^53−1 is an integer like any other (OP-07)', async () => {
  expect((await post({ name: 'mug', amount: 2 ** 53 - 1 })).status).toBe(201)
  await admin`truncate outbox`
})

it.each([
  ['a NUL in a value', '{"name": "a\\u0000b"}', 'name: must not contain NUL characters'],
  [
    'a NUL in a key',
    '{"name": "mug", "labels": {"a\\u0000b": "c"}}',
    'labels.a\\u0000b: must not contain NUL characters',
  ],
  [
    'a NUL in a list',
    '{"name": "mug", "parts": [{"sku": "a"}, {"sku": "\\u0000"}]}',
    'parts[1].sku: must not contain NUL',
  ],
  ['half a surrogate pair', '{"name": "\\ud83d"}', 'name: contains an unpaired surrogate'],
  ['half a pair in a key', '{"name": "mug", "labels": {"\\ude00": "c"}}', 'contains an unpaired surrogate'],
])('%s, which PostgreSQL cannot keep, is bad_request', async (_what, text, message) => {
  expectRefusal(await post(Buffer.from(text)), 400, 'bad_request', message)
})

it.each([
  ['a stray continuation byte', [0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
  ['a sequence cut short', [0xe2, 0x82]],
])('%s is no valid UTF-8 and bad_request', async (_what, bytes) => {
  const body = Buffer.concat([Buffer.from('{"name": "'), Buffer.from(bytes), Buffer.from('"}')])
  expectRefusal(await post(body), 400, 'bad_request', 'body: is not valid UTF-8')
})

it.each([
  '{"name": "mug", "__proto__": {"amount": 1}}',
  '{"name": "mug", "\\u005f_proto__": {"amount": 1}}',
  '{"name": "mug", "labels": {"__proto__": "a"}}',
  '{"name": "mug", "constructor": {"prototype": {"amount": 1}}}',
])('a body that reaches for a prototype is bad_request: %s', async (text) => {
  const message = 'body: must not contain __proto__ or constructor.prototype'
  expectRefusal(await post(Buffer.from(text)), 400, 'bad_request', message)
})

it.each(['constructor', 'toString', 'hasOwnProperty'])(
  'a member called %s is unknown like any other',
  async (member) => {
    expectRefusal(await post({ name: 'mug', [member]: 1 }), 400, 'bad_request', `${member}: unknown member`)
  },
)

it.each([
  ['text/plain', '{"name": "mug"}'],
  ['application/x-www-form-urlencoded', 'name=mug'],
  ['multipart/form-data; boundary=x', '--x--'],
  ['application/json-patch+json', '[]'],
  ['application/jsonx', '{}'],
  [';;;', '{}'],
  [null, '{"name": "mug"}'],
])('a body of content type %s is unsupported_media_type (OP-21)', async (contentType, text) => {
  expectRefusal(await post(Buffer.from(text), contentType), 415, 'unsupported_media_type', 'Content-Type: ')
})

it('takes the content type whatever its case and parameters, and a byte order mark', async () => {
  const answer = await post(Buffer.from('\ufeff{"name": "mug"}'), 'Application/JSON; charset=UTF-8')
  expect(answer.status).toBe(201)
  await admin`truncate outbox`
})

it('refuses a body where there is none to be sent, and takes an empty one or {} for none (OP-09)', async () => {
  const path = '/v1/things/7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11'
  const refused = await send('DELETE', path, { body: { force: true } })
  expectRefusal(refused, 400, 'bad_request', 'body: this operation takes no body')
  expectRefusal(await send('DELETE', path, { body: null }), 400, 'bad_request', 'body: this operation takes no body')
  expect((await send('DELETE', path, { body: Buffer.alloc(0) })).status).toBe(204)
  expect((await send('DELETE', path, { body: {} })).status).toBe(204)
})

it('takes no body for {} where nothing is required, and null too where it updates nothing (OP-09, OP-244)', async () => {
  const takesAnything = (method: 'POST' | 'PUT') =>
    operation({
      operationId: `takeBy${method}`,
      method,
      path: '/v1/anything',
      summary: 'Take anything',
      scope: 'product::create',
      body: z.strictObject({ note: z.string().optional() }),
      responses: { 200: z.unknown() },
      handle: async ({ body }) => ok(body),
    })
  const { send } = await thingsApi(db, { operations: [takesAnything('POST'), takesAnything('PUT')] })
  for (const [method, sent] of [
    ['POST', {}],
    ['POST', { body: {} }],
    ['POST', { body: null }],
    ['PUT', {}],
    ['PUT', { body: {} }],
  ] as const) {
    expect(await send(method, '/v1/anything', sent)).toMatchObject({ status: 200, body: {} })
  }
  const nothing = await send('PUT', '/v1/anything', { body: null })
  expectRefusal(nothing, 400, 'bad_request', 'body: must be an object')
})

it('names five problems at most, and says how many more there are', async () => {
  const body = { name: 'mug', parts: Array.from({ length: 8 }, () => ({})) }
  expectRefusal(await post(body), 400, 'bad_request', 'parts[4].sku: is required (and 3 more)')
})

it('does not send a huge key back', async () => {
  const answer = await send<{ error: { message: string } }>('POST', '/v1/things', {
    body: { ['k'.repeat(500_000)]: 1 },
  })
  expect(answer.status).toBe(400)
  expect(answer.body.error.message.length).toBeLessThan(2000)
})
