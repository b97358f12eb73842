import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, test } from 'vitest'
import { testGateway, unknownKey } from '../../testing/test-gateway.ts'

const gateway = await testGateway()
const get = (headers: Record<string, string>) => gateway.send(undefined, 'GET', '/v1/products', { headers })

/** Key look-ups made while `work` runs. */
async function lookUpsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = gateway.lookUps()
  await work()
  return gateway.lookUps() - before
}

describe('no way in', () => {
  test.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['an empty header', { authorization: '' }],
    ['a scheme without a key', { authorization: 'Bearer' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['a malformed key', { authorization: 'Bearer sk_live_x' }],
    ['a key with a wrong check', { authorization: `Bearer ${unknownKey().slice(0, -1)}!` }],
    ['a malformed key in X-Api-Key', { 'x-api-key': 'sk_live_x' }],
    ['a token that is no key', { authorization: 'Bearer operator-token-of-the-tests' }],
  ])('%s is invalid_api_key and costs no look-up', async (_what, headers) => {
    const reached = gateway.catalog.received.length
    const lookUps = await lookUpsDuring(async () => {
      const answer = await get(headers)
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.headers['x-request-id']).toBe(answer.body.error.request_id)
      expect(answer.headers).not.toHaveProperty('x-ratelimit-limit')
    })
    expect(lookUps).toBe(0)
    expect(gateway.catalog.received.length).toBe(reached)
  })

  test('unknown paths under /v1 and /v1 itself need a key first', async () => {
    for (const path of ['/v1', '/v1/', '/v1/unknown']) {
      expect((await gateway.send(undefined, 'GET', path)).status).toBe(401)
    }
  })

  test('an unknown key is invalid_api_key, and asking again at once costs no second look-up', async () => {
    const key = unknownKey()
    const lookUps = await lookUpsDuring(async () => {
      for (let count = 0; count < 3; count++) {
        expect((await get({ authorization: `Bearer ${key}` })).body.error.code).toBe('invalid_api_key')
      }
    })
    expect(lookUps).toBe(1)
  })

  test('two different keys are invalid_api_key, even when both are good', async () => {
    const [one, other] = [await gateway.aKey(), await gateway.aKey()]
    const answer = await get({ authorization: `Bearer ${one.key}`, 'x-api-key': other.key })
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } })
  })

  test('a scheme other than Bearer is not mended by a good X-Api-Key', async () => {
    const { key } = await gateway.aKey()
    expect((await get({ authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': key })).status).toBe(401)
  })
})

describe('ways in', () => {
  test('Authorization, X-Api-Key, or both with one key', async () => {
    const { key } = await gateway.aKey()
    expect((await get({ authorization: `Bearer ${key}` })).status).toBe(200)
    expect((await get({ authorization: `bearer  ${key}` })).status).toBe(200)
    expect((await get({ 'x-api-key': key })).status).toBe(200)
    expect((await get({ authorization: `Bearer ${key}`, 'x-api-key': key })).status).toBe(200)
  })
})

describe('look-ups', () => {
  test('requests that need the same key at once share one', async () => {
    const { key } = await gateway.aKey()
    const lookUps = await lookUpsDuring(() => Promise.all(Array.from({ length: 10 }, () => get({ 'x-api-key': key }))))
    expect(lookUps).toBe(1)
  })

  test('a key is looked up again after 5 s, not before', async () => {
    const { key } = await gateway.aKey()
    const once = () => get({ 'x-api-key': key })
    expect(await lookUpsDuring(once)).toBe(1)
    gateway.passTime(4_000)
    expect(await lookUpsDuring(once)).toBe(0)
    gateway.passTime(1_000)
    expect(await lookUpsDuring(once)).toBe(1)
  })
})

test('while the database is away a key is neither right nor wrong: service_unavailable', async () => {
  const { key } = await gateway.aKey()
  const { admin } = gateway.database
  const [database] = await admin<{ name: string }[]>`select current_database() as name`
  const limitConnections = (limit: number) => admin.unsafe(`alter database ${database?.name} connection limit ${limit}`)
  await limitConnections(0)
  await admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'gateway_worker'`
  const answer = await get({ 'x-api-key': key })
  await limitConnections(-1)
  expect(answer).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
  expect(answer.headers['retry-after']).toBe('1')
  await eventually('the key is found', async () => (await get({ 'x-api-key': key })).status === 200)
})
