import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { operation } from './operation.ts'
import { created } from './reply.ts'
import { createThing, expectRefusal, type Thing, ThingBody, thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')

/** Answers with a secret, as creating a webhook endpoint does. */
const createSecret = operation({
  operationId: 'createSecret',
  method: 'POST',
  path: '/v1/secrets',
  summary: 'Create a secret',
  scope: 'webhook::create',
  body: ThingBody,
  responses: { 201: ThingBody },
  handle: ({ inWorkspace }) => inWorkspace(async () => created({ name: 'whsec_abc' }, 'webhook 7')),
})

/** Takes a body that need not be sent, as the rotation of a secret does. */
const startThing = operation({
  operationId: 'startThing',
  method: 'POST',
  path: '/v1/thing-starts',
  summary: 'Start a thing',
  scope: 'webhook::create',
  body: ThingBody.partial().prefault({}),
  responses: { 201: ThingBody },
  handle: ({ inWorkspace }) => inWorkspace(async () => created({ name: `thing ${++calls}` })),
})

/** Takes no body. */
const stopThing = operation({
  operationId: 'stopThing',
  method: 'POST',
  path: '/v1/thing-stops',
  summary: 'Stop a thing',
  scope: 'webhook::create',
  responses: { 201: ThingBody },
  handle: ({ inWorkspace }) => inWorkspace(async () => created({ name: `thing ${++calls}` })),
})

let calls = 0

/** Calls another service before its transaction. */
const createFarThing = operation({
  operationId: 'createFarThing',
  method: 'POST',
  path: '/v1/far-things',
  summary: 'Create a thing with another service',
  scope: 'webhook::create',
  body: ThingBody,
  responses: { 201: ThingBody },
  async handle({ body, inWorkspace, storedAnswer }) {
    const stored = await storedAnswer()
    if (stored) return stored
    calls++
    return inWorkspace(async () => created(body))
  },
})

const { send } = await thingsApi(db, { operations: [createThing, createSecret, createFarThing, startThing, stopThing] })
const mug = { name: 'mug' }
const post = (caller = aCaller(), key = 'key-1', body: unknown = mug, path = '/v1/things') =>
  send<Thing>('POST', path, { caller, headers: { 'idempotency-key': key }, body })
const written = async () => (await admin`select from outbox`).length

afterEach(async () => {
  await admin`truncate outbox, idempotency_key`
})

describe('Idempotency-Key (OP-08)', () => {
  it('answers a repeated request with the first answer, and does nothing again', async () => {
    const caller = aCaller()
    const first = await post(caller)
    const second = await post(caller)
    expect([second.status, second.body]).toEqual([201, first.body])
    expect([first, second].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true'])
    expect(second.headers['content-type']).toBe(first.headers['content-type'])
    expect(await written()).toBe(1)
  })

  it('takes requests without a key, or with different ones, for different requests', async () => {
    const caller = aCaller()
    await send('POST', '/v1/things', { caller, body: mug })
    await send('POST', '/v1/things', { caller, body: mug })
    await post(caller, 'key-1')
    await post(caller, 'key-2')
    expect(await written()).toBe(4)
  })

  it.each([
    ['body', { name: 'cup' }, '/v1/things'],
    ['operation', mug, '/v1/secrets'],
  ])('refuses the key for another %s with conflict', async (_what, body, path) => {
    const caller = aCaller()
    await post(caller)
    const answer = await post(caller, 'key-1', body, path)
    expectRefusal(answer, 409, 'conflict', 'Idempotency-Key: was used for another request within 24 hours')
    expect(await written()).toBe(1)
  })

  it.each([
    ['/v1/thing-starts', undefined, {}],
    ['/v1/thing-starts', {}, undefined],
    ['/v1/thing-starts', undefined, null],
    ['/v1/thing-starts', null, {}],
    ['/v1/thing-starts', {}, null],
    ['/v1/thing-stops', undefined, {}],
    ['/v1/thing-stops', {}, undefined],
  ])('%s takes the body %j and then %j for the same request (OP-09)', async (path, first, second) => {
    const caller = aCaller()
    const sent = { caller, headers: { 'idempotency-key': 'key-1' } }
    const answer = await send('POST', path, { ...sent, body: first })
    const again = await send('POST', path, { ...sent, body: second })
    expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([201, answer.body, 'true'])
  })

  it('stores nothing of a refused request, which may be repeated', async () => {
    const caller = aCaller()
    expectRefusal(await post(caller, 'key-1', { name: '' }), 400, 'bad_request', 'name: ')
    expect(await admin`select from idempotency_key`).toHaveLength(0)
    expect((await post(caller)).status).toBe(201)
  })

  it('gives requests that come at once one effect and one answer', async () => {
    const caller = aCaller()
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(caller)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(201)
    expect(await written()).toBe(1)
  })

  it('answers from the store before the operation calls another service', async () => {
    const caller = aCaller()
    calls = 0
    const first = await post(caller, 'key-1', mug, '/v1/far-things')
    const second = await post(caller, 'key-1', mug, '/v1/far-things')
    expect([second.status, second.body, calls]).toEqual([201, first.body, 1])
    const other = await post(caller, 'key-1', { name: 'cup' }, '/v1/far-things')
    expectRefusal(other, 409, 'conflict', 'Idempotency-Key: was used for another request within 24 hours')
    await send('POST', '/v1/far-things', { caller, body: mug })
    await admin`update idempotency_key set created_at = now() - interval '24 hours 1 minute'`
    await post(caller, 'key-1', mug, '/v1/far-things')
    expect(calls).toBe(3)
  })

  it('forgets a key after 24 hours, not before', async () => {
    const caller = aCaller()
    const first = await post(caller)
    await admin`update idempotency_key set created_at = now() - interval '23 hours 59 minutes'`
    expect((await post(caller)).body).toEqual(first.body)
    await admin`update idempotency_key set created_at = now() - interval '24 hours 1 minute'`
    const anew = await post(caller, 'key-1', { name: 'cup' })
    expect([anew.status, anew.body.name]).toEqual([201, 'cup'])
    expect((await post(caller, 'key-1', { name: 'cup' })).body).toEqual(anew.body)
    expect(await written()).toBe(2)
  })

  it('keeps a key to its workspace', async () => {
    const [first, second] = [await post(aCaller()), await post(aCaller())]
    expect(second.body.id).not.toBe(first.body.id)
    expect(await written()).toBe(2)
  })

  it('never stores a secret: the repeated key is conflict and names what was made', async () => {
    const caller = aCaller()
    const first = await post(caller, 'key-1', mug, '/v1/secrets')
    expect([first.status, first.body.name]).toEqual([201, 'whsec_abc'])
    const second = await post(caller, 'key-1', mug, '/v1/secrets')
    expectRefusal(second, 409, 'conflict', 'Idempotency-Key: was used to make webhook 7')
    const rows = await admin`select * from idempotency_key`
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('whsec_abc')
  })

  it.each(['', ' ', 'a b', 'clé', 'x'.repeat(256)])('refuses the key %j with bad_request', async (key) => {
    const answer = await post(aCaller(), key)
    expectRefusal(answer, 400, 'bad_request', 'Idempotency-Key: must be 1 to 255 visible ASCII characters')
    expect(await written()).toBe(0)
  })

  it('takes a key of 255 characters', async () => {
    expect((await post(aCaller(), '~'.repeat(255))).status).toBe(201)
  })
})
