import { testDatabase } from '@backoffice/testing/database.ts'
import { afterEach, expect, it } from 'vitest'
import { expectRefusal, type Thing, thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')
const { send } = await thingsApi(db)
const MIB = 1024 * 1024

afterEach(async () => {
  await admin`truncate outbox`
})

/** A valid thing in exactly so many bytes. */
function thingOf(bytes: number): Buffer {
  const empty = '{"name":"mug","labels":{"pad":""}}'
  return Buffer.from(empty.replace('""}', `"${'x'.repeat(bytes - empty.length)}"}`))
}

const inChunks = (body: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(body.length / 65_536) }, (_, index) =>
    body.subarray(index * 65_536, (index + 1) * 65_536),
  )

it('takes a body of 1 MiB, sent whole or chunked (OP-07)', async () => {
  expect((await send<Thing>('POST', '/v1/things', { body: thingOf(MIB) })).body.name).toBe('mug')
  expect((await send<Thing>('POST', '/v1/things', { body: inChunks(thingOf(MIB)) })).body.name).toBe('mug')
})

it.each([
  ['that Content-Length announces', thingOf(MIB + 1)],
  ['that comes chunked', inChunks(thingOf(MIB + 1))],
  ['that goes on long after', inChunks(thingOf(8 * MIB))],
])('a body over 1 MiB %s is payload_too_large, nothing written (OP-07)', async (_how, body) => {
  const answer = await send('POST', '/v1/things', { body })
  expectRefusal(answer, 413, 'payload_too_large', 'body: is larger than 1048576 bytes')
  expect(await admin`select from outbox`).toHaveLength(0)
})

const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels))

it('reads 32 levels and refuses 33 (OP-07)', async () => {
  const deep = await send('POST', '/v1/things', { body: nested(32) })
  expectRefusal(deep, 400, 'bad_request', 'body: must be an object, not an array')
  const deeper = await send('POST', '/v1/things', { body: nested(33) })
  expectRefusal(deeper, 400, 'bad_request', 'body: nests deeper than 32 levels')
})

it.each([
  ['closed', nested(MIB / 2), 'body: nests deeper than 32 levels'],
  ['left open', Buffer.from('['.repeat(MIB)), 'body: malformed JSON: '],
  ['of objects', Buffer.from(`${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`), 'body: nests deeper than 32 levels'],
])('survives a depth bomb of 1 MiB, %s', async (_how, body, message) => {
  expectRefusal(await send('POST', '/v1/things', { body }), 400, 'bad_request', message)
  expect((await send('POST', '/v1/things', { body: { name: 'mug' } })).status).toBe(201)
})
