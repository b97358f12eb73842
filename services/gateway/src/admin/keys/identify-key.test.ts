import { describe, expect, test } from 'vitest'
import { newToken } from '../../credentials/operators/token-format.ts'
import { newSecret } from '../../credentials/secret-text.ts'
import { inventedKey, testGateway, testKeys, unknownKey } from '../../testing/test-gateway.ts'
import type { IssuedToken } from '../operators/issue-token.ts'
import type { OpenedSession } from '../support/support-session.ts'
import type { IssuedKey } from './key.ts'

const gateway = await testGateway()
const anOperator = async (name: string) => (await gateway.admin<IssuedToken>('POST', '/operators', { name })).body
const aSession = async (workspaceId: string, token?: string) =>
  (await gateway.admin<OpenedSession>('POST', `/workspaces/${workspaceId}/support-sessions`, {}, token)).body
const identify = (key: unknown) => gateway.admin<Record<string, unknown>>('POST', '/keys/identify', { key })

test('says whose key it is', async () => {
  const { workspaceId, id, key } = await gateway.aKey(['sale'])
  expect(await identify(key)).toMatchObject({
    status: 200,
    body: {
      ...{ id, name: 'Test', kind: 'workspace', scopes: ['sale'], livemode: true, revoked_at: null, expires_at: null },
      ...{ state: 'IN_FORCE', end_with: `DELETE /admin/v1/keys/${id}` },
    },
  })
  expect((await identify(key)).body.workspace).toEqual({ id: workspaceId, name: 'Test' })
})

test('also of a key that is revoked or has expired', async () => {
  const { workspaceId, id, key } = await gateway.aKey()
  await gateway.admin('DELETE', `/keys/${id}`)
  const ended = { state: 'ENDED', end_with: null }
  expect((await identify(key)).body).toMatchObject({ id, revoked_at: expect.any(String), ...ended })
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const body = { name: 'Short', scopes: ['*'], expires_at }
  const short = await gateway.admin<IssuedKey>('POST', `/workspaces/${workspaceId}/keys`, body)
  await gateway.letTimePass(60_000)
  expect((await identify(short.body.key)).body).toMatchObject({ id: short.body.id, ...ended })
})

test('says whose session of support a token is, and in which workspace; what it names ends it', async () => {
  const { workspaceId } = await gateway.aKey(['sale'], true)
  const { id, token, created_at, expires_at } = await aSession(workspaceId)
  const end_with = `DELETE /admin/v1/support-sessions/${id}`
  const session = {
    id,
    name: 'bootstrap',
    kind: 'support',
    livemode: false,
    created_at,
    expires_at,
    last_used_at: null,
  }
  const { body } = await identify(`Bearer ${token}`)
  expect(body).toMatchObject({ ...session, revoked_at: null, state: 'IN_FORCE', end_with })
  expect([body.workspace, body.scopes]).toEqual([
    { id: workspaceId, name: 'Test' },
    expect.arrayContaining(['sale::read']),
  ])
  expect((await gateway.admin('DELETE', end_with.slice('DELETE /admin/v1'.length))).status).toBe(204)
  const ended = { ...session, revoked_at: expect.any(String), state: 'ENDED', end_with: null }
  expect((await identify(token)).body).toMatchObject(ended)
  const { token: expired } = await aSession(workspaceId)
  await gateway.letTimePass(30 * 60_000)
  expect((await identify(expired)).body).toMatchObject({ revoked_at: null, state: 'ENDED' })
})

test('says which operator a token is of, also of one that was rotated; what it names ends it', async () => {
  const { id, token } = await anOperator('Ada')
  const end_with = `DELETE /admin/v1/operators/${id}`
  const { body } = await identify(token)
  expect(body).toMatchObject({ id, name: 'Ada', kind: 'operator', scopes: [], state: 'IN_FORCE', end_with })
  expect([body.workspace, body.livemode, body.expires_at]).toEqual([null, null, null])
  await gateway.admin('POST', `/operators/${id}/rotate`, { overlap_seconds: 60 })
  expect((await identify(token)).body).toMatchObject({ revoked_at: expect.any(String), state: 'IN_FORCE', end_with })
  await gateway.admin('DELETE', end_with.slice('DELETE /admin/v1'.length))
  expect((await identify(token)).body).toMatchObject({ id, state: 'ENDED', end_with: null })
})

test('the session of a deleted operator has ended, also one that was opened at that moment', async () => {
  const { workspaceId } = await gateway.aKey()
  const { id, token } = await anOperator('Eve')
  const session = await aSession(workspaceId, token)
  await gateway.admin('DELETE', `/operators/${id}`)
  await gateway.database.admin`update support_session set ended_at = null where id = ${session.id}`
  expect((await identify(session.token)).body).toMatchObject({ name: 'Eve', state: 'ENDED', end_with: null })
})

test('the keys of a deleted workspace have ended, those of a suspended one may work again', async () => {
  const { workspaceId, key } = await gateway.aKey()
  await gateway.admin('POST', `/workspaces/${workspaceId}/suspend`, {})
  expect((await identify(key)).body.state).toBe('IN_FORCE')
  await gateway.admin('DELETE', `/workspaces/${workspaceId}`)
  expect((await identify(key)).body).toMatchObject({ revoked_at: null, state: 'ENDED' })
})

test('all are found by an index each, with one statement', async () => {
  const { key } = await gateway.aKey()
  gateway.takeWorkerStatements()
  await identify(key)
  const [statement = '', ...others] = gateway.takeWorkerStatements().filter((text) => text.includes('credential.hash'))
  expect(others).toEqual([])
  const plan = await gateway.worker.sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`
    return tx.unsafe(`explain (generic_plan) ${statement}`)
  })
  const text = plan.map((line) => line['QUERY PLAN']).join('\n')
  const tables = ['api_key_key', 'support_session_token', 'operator_token_token']
  for (const table of tables) expect(text).toContain(`${table}_hash_key`)
})

test('of the secret of a webhook endpoint it says what that is, and no more', async () => {
  const answer = await identify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  expect(answer).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringMatching(/^key: is the secret of/) } },
  })
  expect(JSON.stringify(answer.body)).not.toContain('MfKQ9')
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
  ['of a session of support', testKeys.textsOf(crypto.randomUUID(), true, newSecret(), 'ss')[0]],
  ['of an operator', newToken(crypto.randomUUID())],
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
    const { workspaceId, key } = await gateway.aKey()
    const tokens = [(await aSession(workspaceId)).token, (await anOperator(crypto.randomUUID())).token]
    for (const text of [key, ...tokens]) {
      const lines = gateway.log.length
      await send(text)
      expect(gateway.log.length).toBeGreaterThan(lines)
      expect(isLogged(text)).toBe(false)
    }
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
