import { randomUUID } from 'node:crypto'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { type CreatedEndpoint, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { endpointDirectory } from './endpoint-directory.ts'

const { send, admin, workerUrl, createEndpointAt } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'worker' })
afterAll(() => worker.stop?.())
const url = 'https://example.com'
const HOUR = 3600

const rotate = (caller: Caller, id: string, body?: unknown, headers?: Record<string, string>) =>
  send<CreatedEndpoint>(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`, body, headers)

/** The secrets that sign for an endpoint at a given time, in their order. */
async function signingSecrets(caller: Caller, id: string, at = new Date()): Promise<string[]> {
  const targets = await endpointDirectory(testKeys).of(worker.sql, [caller.workspaceId])
  const keys = targets.get(caller.workspaceId)?.get(id)?.signing?.keys ?? []
  return keys.filter(({ endsAt }) => endsAt === null || at < endsAt).map(({ key }) => `whsec_${key.toString('base64')}`)
}

const secondsLater = (seconds: number) => new Date(Date.now() + seconds * 1000)

test.each([
  ['no body', undefined],
  ['an empty body', {}],
  ['an overlap of 0', { overlap_seconds: 0 }],
])('Subscription 2: rotating with %s answers a new secret, and the old one ends at once (OP-63)', async (_, body) => {
  const caller = aCaller()
  const { secret: old, ...before } = await createEndpointAt(caller, url)
  const answer = await rotate(caller, before.id, body)
  expect(answer.status).toBe(200)
  const { secret, ...shown } = answer.body
  expect(shown).toEqual({ ...before, updated_at: shown.updated_at })
  expect(shown.updated_at > before.updated_at).toBe(true)
  expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32)
  expect(secret).not.toBe(old)
  expect(await signingSecrets(caller, before.id)).toEqual([secret])
  expect(await admin`select from previous_secret where endpoint_id = ${before.id}`).toHaveLength(0)
})

test('with an overlap both secrets sign, the newest first, until it ends (OP-63)', async () => {
  const caller = aCaller()
  const { id, secret: old } = await createEndpointAt(caller, url)
  const { secret } = (await rotate(caller, id, { overlap_seconds: HOUR })).body
  expect(await signingSecrets(caller, id)).toEqual([secret, old])
  expect(await signingSecrets(caller, id, secondsLater(HOUR - 10))).toEqual([secret, old])
  expect(await signingSecrets(caller, id, secondsLater(HOUR))).toEqual([secret])
})

test('an endpoint named in capital letters keeps a secret that signs', async () => {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, url)
  const { secret } = (await rotate(caller, id.toUpperCase())).body
  expect(await signingSecrets(caller, id)).toEqual([secret])
})

describe('rotating again while an overlap runs (OP-98)', () => {
  test('with an overlap lets the earlier secrets end when they were to end', async () => {
    const caller = aCaller()
    const { id, secret: first } = await createEndpointAt(caller, url)
    const { secret: second } = (await rotate(caller, id, { overlap_seconds: HOUR })).body
    const { secret: third } = (await rotate(caller, id, { overlap_seconds: 2 * HOUR })).body
    expect(await signingSecrets(caller, id)).toEqual([third, second, first])
    expect(await signingSecrets(caller, id, secondsLater(HOUR))).toEqual([third, second])
  })

  test('with a shorter overlap lets none of them outlast it', async () => {
    const caller = aCaller()
    const { id, secret: first } = await createEndpointAt(caller, url)
    const { secret: second } = (await rotate(caller, id, { overlap_seconds: 2 * HOUR })).body
    const { secret: third } = (await rotate(caller, id, { overlap_seconds: HOUR })).body
    expect(await signingSecrets(caller, id)).toEqual([third, second, first])
    expect(await signingSecrets(caller, id, secondsLater(HOUR))).toEqual([third])
  })

  test('without one ends them all at once', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    await rotate(caller, id, { overlap_seconds: HOUR })
    const { secret } = (await rotate(caller, id)).body
    expect(await signingSecrets(caller, id)).toEqual([secret])
  })

  test('a fifth overlap at once is a conflict that changes nothing; rotating without one still works', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    for (let index = 0; index < 4; index++) await rotate(caller, id, { overlap_seconds: HOUR })
    const before = await signingSecrets(caller, id)
    const path = `/v1/webhooks/${id}/secret/rotate`
    const answer = await send(caller, 'POST', path, { overlap_seconds: HOUR })
    expect(answer.status).toBe(409)
    expect(answer.body.error.message).toContain('overlap_seconds: 4 replaced secrets still sign')
    expect(await signingSecrets(caller, id)).toEqual(before)
    expect((await rotate(caller, id)).status).toBe(200)
  })

  test('secrets that have ended do not count, and are deleted', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    for (let index = 0; index < 4; index++) await rotate(caller, id, { overlap_seconds: HOUR })
    await admin`update previous_secret set ends_at = now() - interval '1 second' where endpoint_id = ${id}`
    expect((await rotate(caller, id, { overlap_seconds: HOUR })).status).toBe(200)
    expect(await admin`select from previous_secret where endpoint_id = ${id}`).toHaveLength(1)
  })
})

describe('what the schema can tell is bad_request, and nothing is rotated', () => {
  test.each([
    ['an overlap of -1', { overlap_seconds: -1 }, 'overlap_seconds: must be at least 0'],
    ['an overlap of 86,401', { overlap_seconds: 86_401 }, 'overlap_seconds: must be at most 86400'],
    ['an overlap of 1.5', { overlap_seconds: 1.5 }, 'overlap_seconds: must be a whole number'],
    ['an overlap as text', { overlap_seconds: '1' }, 'overlap_seconds: must be a number'],
    ['an overlap of null', { overlap_seconds: null }, 'overlap_seconds: must be a number'],
    ['an overlap of true', { overlap_seconds: true }, 'overlap_seconds: must be a number, not a boolean'],
    ['an overlap in a list', { overlap_seconds: [60] }, 'overlap_seconds: must be a number, not an array'],
    ['an overlap without end', '{"overlap_seconds": 1e400}', 'overlap_seconds: must be at most 9007199254740991'],
    ['an overlap that is no JSON', '{"overlap_seconds": NaN}', 'body: malformed JSON'],
    ['a secret of one’s own', { secret: 'whsec_mine' }, 'secret: unknown member'],
    ['no object', [], 'body: must be an object'],
  ])('%s', async (_, body, message) => {
    const caller = aCaller()
    const { id, secret } = await createEndpointAt(caller, url)
    const answer = await send(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`, body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toContain(message)
    expect(await signingSecrets(caller, id)).toEqual([secret])
  })

  test('86,400 seconds are allowed', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    expect((await rotate(caller, id, { overlap_seconds: 86_400 })).status).toBe(200)
  })
})

describe('a repeated Idempotency-Key (OP-08)', () => {
  test('is a conflict that names the endpoint, whose new secret is not kept', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    const headers = { 'idempotency-key': randomUUID() }
    const { secret } = (await rotate(caller, id, { overlap_seconds: HOUR }, headers)).body
    const path = `/v1/webhooks/${id}/secret/rotate`
    const again = await send(caller, 'POST', path, { overlap_seconds: HOUR }, headers)
    expect(again.status).toBe(409)
    expect(again.body.error.message).toContain(`a new secret of webhook endpoint ${id}`)
    expect((await signingSecrets(caller, id))[0]).toBe(secret)
  })

  test('rotates once however many come at once (50 rounds)', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    for (let round = 0; round < 50; round++) {
      const headers = { 'idempotency-key': randomUUID() }
      const answers = await Promise.all([1, 2, 3].map(() => rotate(caller, id, {}, headers)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      const rotated = answers.find(({ status }) => status === 200)
      expect(await signingSecrets(caller, id)).toEqual([rotated?.body.secret])
    }
  })
})

test('of two rotations at once the later one’s secret is the one that signs (50 rounds)', async () => {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, url)
  for (let round = 0; round < 50; round++) {
    const answers = await Promise.all([rotate(caller, id), rotate(caller, id)])
    const signing = await signingSecrets(caller, id)
    expect(signing).toHaveLength(1)
    expect(answers.map(({ body }) => body.secret)).toContain(signing[0])
  }
})

test('two rotations with an overlap at once keep all three secrets (50 rounds)', async () => {
  for (let round = 0; round < 50; round++) {
    const caller = aCaller()
    const { id, secret } = await createEndpointAt(caller, url)
    const answers = await Promise.all([1, 2].map(() => rotate(caller, id, { overlap_seconds: HOUR })))
    const signing = await signingSecrets(caller, id)
    expect(signing[2]).toBe(secret)
    expect(signing.slice(0, 2).sort()).toEqual(answers.map(({ body }) => body.secret).sort())
  }
})

test('a rotation and a delete at once leave neither endpoint nor secrets (50 rounds)', async () => {
  for (let round = 0; round < 50; round++) {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    const [rotated, deleted] = await Promise.all([
      rotate(caller, id, { overlap_seconds: HOUR }),
      send(caller, 'DELETE', `/v1/webhooks/${id}`),
    ])
    expect([200, 404]).toContain(rotated.status)
    expect(deleted.status).toBe(204)
    expect(await admin`select from endpoint where id = ${id}`).toHaveLength(0)
    expect(await admin`select from previous_secret where endpoint_id = ${id}`).toHaveLength(0)
  }
})
