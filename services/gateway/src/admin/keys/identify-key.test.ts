import { describe, expect, test } from 'vitest'
import { inventedKey, testGateway, unknownKey } from '../../testing/test-gateway.ts'
import type { IssuedKey } from './key.ts'

const gateway = await testGateway()
const identify = (key: unknown) => gateway.admin<Record<string, unknown>>('POST', '/keys/identify', { key })

test('says whose key it is', async () => {
  const { workspaceId, id, key } = await gateway.aKey(['sale'])
  expect(await identify(key)).toMatchObject({
    status: 200,
    body: { id, name: 'Test', kind: 'workspace', scopes: ['sale'], livemode: true, revoked_at: null, expires_at: null },
  })
  expect((await identify(key)).body.workspace).toEqual({ id: workspaceId, name: 'Test' })
})

test('also of a key that is revoked or has expired', async () => {
  const { workspaceId, id, key } = await gateway.aKey()
  await gateway.admin('DELETE', `/keys/${id}`)
  expect((await identify(key)).body).toMatchObject({ id, revoked_at: expect.any(String) })
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const body = { name: 'Short', scopes: ['*'], expires_at }
  const short = await gateway.admin<IssuedKey>('POST', `/workspaces/${workspaceId}/keys`, body)
  await gateway.letTimePass(60_000)
  expect((await identify(short.body.key)).body).toMatchObject({ id: short.body.id })
})

test.each<[string, (key: string) => string]>([
  ['with spaces and line breaks around it', (key) => ` \t${key}\r\n`],
  ['with its scheme', (key) => `Bearer ${key}`],
  ['as the whole header', (key) => `Authorization: Bearer ${key}\n`],
  ['as the other header', (key) => `x-api-key: ${key}`],
])('takes a key as it was found: %s', async (_what, found) => {
  const { id, key } = await gateway.aKey()
  expect((await identify(found(key))).body.id).toBe(id)
})

test.each([
  ['made here', unknownKey()],
  ['of the earlier format', inventedKey()],
])('an unknown key %s is not_found', async (_what, key) => {
  expect(await identify(key)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
})

test.each([['sk_live_x'], [''], [unknownKey().slice(0, -1)], [`${unknownKey()} ${unknownKey()}`], [7]])(
  'what is no key is bad_request: %j',
  async (text) => {
    expect(await identify(text)).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
  },
)

describe('the log never has the key', () => {
  const secretOf = (key: string) => key.slice(-49)
  const isLogged = (key: string) => JSON.stringify(gateway.log).includes(secretOf(key).slice(0, 5))

  test.each<[string, (key: string) => Promise<unknown>]>([
    ['a key that is known or unknown', identify],
    ['a key with a wrong check', (key) => identify(`${key}0`)],
    ['a key as a member', (key) => gateway.admin('POST', '/keys/identify', { key, [key]: 1 })],
    ['a key in the path', (key) => gateway.admin('POST', `/keys/identify/${key}`)],
    ['a key as an id', (key) => gateway.admin('DELETE', `/keys/${key}`)],
    ['a key in the query', (key) => gateway.admin('POST', `/keys/identify?${key}=${key}`, { key })],
    ['a key in a path of /v1', (key) => gateway.send(key, 'GET', `/v1/products/${key}`)],
    ['malformed JSON', (key) => gateway.admin('POST', '/keys/identify', `{"key": ${key}}`)],
    [
      'malformed JSON near the end',
      (key) => gateway.admin('POST', '/keys/identify', `{"key": "${key}" ${secretOf(key)}}`),
    ],
  ])('%s', async (_what, send) => {
    const { key } = await gateway.aKey()
    const lines = gateway.log.length
    await send(key)
    expect(gateway.log.length).toBeGreaterThan(lines)
    expect(isLogged(key)).toBe(false)
  })

  test('when the database fails', async () => {
    const { key } = await gateway.aKey()
    const { admin } = gateway.database
    await admin`alter table api_key rename to api_keys`
    const answer = await identify(key)
    await admin`alter table api_keys rename to api_key`
    expect(answer.status).toBe(500)
    expect(gateway.log.at(-1)).toHaveProperty('err')
    expect(isLogged(key)).toBe(false)
  })
})
