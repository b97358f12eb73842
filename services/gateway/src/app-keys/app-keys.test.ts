import { randomBytes, randomUUID } from 'node:crypto'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { aCaller, serviceHeadersOf } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { AuditEntry } from '../admin/audit/list-audit.ts'
import { keyFormat } from '../credentials/keys/key-format.ts'
import { testApps } from '../testing/test-apps.ts'
import { ADMIN_TOKEN, type TestGateway, testGateway } from '../testing/test-gateway.ts'

const gateway = await testGateway()

/** Sends a request as the service apps does, in a workspace. */
const asApps = async <Body = { error: { code: string; message: string } }>(
  workspaceId: string,
  method: string,
  path: string,
  body?: unknown,
) =>
  gateway.send<Body>(undefined, method, `/internal/app-keys/${path}`, {
    headers: await serviceHeadersOf(aCaller({ workspaceId }), 'gateway'),
    ...(body !== undefined && { body }),
  })

const aSecret = () => randomBytes(32).toString('base64')
const statusWith = async (key: string) => (await gateway.send(key, 'GET', '/v1/products')).status

/** Creates a key of an app in a new workspace, not active yet. */
async function anAppKey({ isActive = false, sandbox = false } = {}) {
  const { workspaceId } = await gateway.aKey(['*'], sandbox)
  const [id, body] = [randomUUID(), { secret: aSecret(), name: 'Pay', scopes: ['sale', 'product::read'] }]
  const answer = await asApps<{ key: string }>(workspaceId, 'PUT', id, body)
  expect(answer.status).toBe(200)
  if (isActive) expect((await asApps(workspaceId, 'POST', `${id}/activate`)).status).toBe(204)
  return { workspaceId, id, sent: body, key: answer.body.key }
}

const auditOf = async (id: string) => {
  const { body } = await gateway.admin<{ items: z.output<typeof AuditEntry>[] }>('GET', '/audit?limit=100')
  return body.items
    .filter(({ target }) => target === `keys/${id}`)
    .map(({ actor, action }) => `${actor} ${action}`)
    .reverse()
}

describe('creating', () => {
  test('the same id, secret and scopes give the same key, and one row', async () => {
    const { workspaceId, id, sent, key } = await anAppKey()
    const again = await asApps(workspaceId, 'PUT', id, { ...sent, scopes: sent.scopes.toReversed(), name: 'Renamed' })
    expect(again).toMatchObject({ status: 200, body: { key } })
    expect(key).toContain(`sk_live_${id.replaceAll('-', '')}_`)
    expect(await gateway.database.admin`select kind, name, scopes, activated_at from api_key where id = ${id}`).toEqual(
      [{ kind: 'app', name: 'Pay', scopes: sent.scopes, activated_at: null }],
    )
    expect(await auditOf(id)).toEqual(['apps key.created'])
  })

  test('a repetition gives the same key although the check keys were changed meanwhile, by whichever replica', async () => {
    const { workspaceId, id, sent, key } = await anAppKey()
    const checkKeys = [5, 6].map((byte) => `${byte}:${Buffer.alloc(32, byte).toString('base64')}`)
    const replicas = [undefined, checkKeys.join(','), checkKeys.toReversed().join(',')].map((text) =>
      testGateway({
        database: gateway.database,
        format: keyFormat(text === undefined ? undefined : SecretKeys.parse(text)),
      }),
    )
    const headers = await serviceHeadersOf(aCaller({ workspaceId }), 'gateway')
    const [before, during, after] = await Promise.all(replicas)
    const put = async (replica: TestGateway | undefined, id: string) =>
      (await replica?.send<{ key: string }>(undefined, 'PUT', `/internal/app-keys/${id}`, { headers, body: sent }))
        ?.body.key
    expect([await put(during, id), await put(after, id)]).toEqual([key, key])
    const other = randomUUID()
    const earlier = await put(before, other)
    expect([await put(during, other), await put(after, other)]).toEqual([earlier, earlier])
    expect(await auditOf(other)).toEqual(['apps key.created'])
  })

  test('several calls at once give one key', async () => {
    const { workspaceId } = await gateway.aKey()
    const [id, body] = [randomUUID(), { secret: aSecret(), name: 'Pay', scopes: ['sale'] }]
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => asApps<{ key: string }>(workspaceId, 'PUT', id, body)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(new Set(answers.map(({ body }) => body.key)).size).toBe(1)
    expect(await auditOf(id)).toEqual(['apps key.created'])
  })

  test('in a sandbox it is a test key', async () => {
    expect((await anAppKey({ sandbox: true })).key).toMatch(/^sk_test_/)
  })

  test.each([{ secret: aSecret() }, { scopes: ['sale'] }, { scopes: ['sale', 'product'] }])(
    'for the same id %j is conflict',
    async (other) => {
      const { workspaceId, id, sent } = await anAppKey()
      const answer = await asApps(workspaceId, 'PUT', id, { ...sent, ...other })
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    },
  )

  test("another workspace's id is conflict, and that workspace's key stays as it was", async () => {
    const { id, sent } = await anAppKey()
    const other = await gateway.aKey()
    expect((await asApps(other.workspaceId, 'PUT', id, sent)).status).toBe(409)
    expect(await auditOf(id)).toEqual(['apps key.created'])
  })

  test('a workspace that does not exist is not_found', async () => {
    const body = { secret: aSecret(), name: 'Pay', scopes: ['sale'] }
    expect((await asApps(randomUUID(), 'PUT', randomUUID(), body)).status).toBe(404)
  })

  test.each([
    [{ secret: randomBytes(31).toString('base64') }, 'secret'],
    [{ secret: 'secret!' }, 'secret'],
    [{ scopes: ['sales'] }, 'scopes[0]'],
    [{ name: '' }, 'name'],
  ])('refuses %j, naming %s without its value', async (wrong, path) => {
    const { workspaceId, sent } = await anAppKey()
    const answer = await asApps(workspaceId, 'PUT', randomUUID(), { ...sent, ...wrong })
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
    expect(answer.body.error.message).toContain(`${path}: `)
    if ('secret' in wrong) expect(answer.body.error.message).not.toContain(wrong.secret)
  })
})

describe('activating', () => {
  test('a key works only from then on, although it was refused just before', async () => {
    const { workspaceId, id, key } = await anAppKey()
    const before = await gateway.send(key, 'GET', '/v1/products')
    expect(before).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } })
    expect((await asApps(workspaceId, 'POST', `${id}/activate`)).status).toBe(204)
    await eventually('the key works', async () => (await statusWith(key)) === 200)
    expect(await auditOf(id)).toEqual(['apps key.created', 'apps key.activated'])
  })

  test('again changes nothing', async () => {
    const { workspaceId, id } = await anAppKey({ isActive: true })
    const activatedAt = () => gateway.database.admin`select activated_at from api_key where id = ${id}`
    const first = await activatedAt()
    gateway.passTime(1_000)
    expect((await asApps(workspaceId, 'POST', `${id}/activate`)).status).toBe(204)
    expect(await activatedAt()).toEqual(first)
    expect(await auditOf(id)).toEqual(['apps key.created', 'apps key.activated'])
  })

  test.each([
    ['before it worked is conflict', false, 409],
    ['after it worked changes nothing', true, 204],
  ])('a key that was revoked %s, and it stays revoked', async (_, isActive, status) => {
    const { workspaceId, id, key } = await anAppKey({ isActive })
    await asApps(workspaceId, 'POST', `${id}/revoke`)
    expect((await asApps(workspaceId, 'POST', `${id}/activate`)).status).toBe(status)
    await eventually('the key is refused', async () => (await statusWith(key)) === 401)
  })

  test("an unknown key, a workspace's own key and another workspace's app key are not_found", async () => {
    const { id } = await anAppKey()
    const other = await gateway.aKey()
    for (const each of [randomUUID(), other.id, id]) {
      expect((await asApps(other.workspaceId, 'POST', `${each}/activate`)).status).toBe(404)
    }
  })
})

describe('revoking', () => {
  test('ends a key in use, once, and its id cannot be used again', async () => {
    const { workspaceId, id, sent, key } = await anAppKey({ isActive: true })
    expect(await statusWith(key)).toBe(200)
    for (let count = 0; count < 2; count++) {
      expect((await asApps(workspaceId, 'POST', `${id}/revoke`)).status).toBe(204)
    }
    await eventually('the key is refused', async () => (await statusWith(key)) === 401)
    expect(await auditOf(id)).toEqual(['apps key.created', 'apps key.activated', 'apps key.revoked'])
    expect((await asApps(workspaceId, 'PUT', id, sent)).status).toBe(409)
  })

  test('a key that was never activated is refused as a revoked one then, not as one that will work', async () => {
    const { workspaceId, id, key } = await anAppKey()
    const refusal = async () => (await gateway.send(key, 'GET', '/v1/products')).body.error.message
    expect(await refusal()).toBe('The API key is not activated yet')
    expect((await asApps(workspaceId, 'POST', `${id}/revoke`)).status).toBe(204)
    await eventually('it is revoked', async () => (await refusal()) === 'The API key has been revoked')
  })

  test("touches no other key: neither an unknown id, nor a workspace's own key, nor another workspace's", async () => {
    const { id, key } = await anAppKey({ isActive: true })
    const own = await gateway.aKey()
    for (const each of [randomUUID(), own.id, id]) {
      expect((await asApps(own.workspaceId, 'POST', `${each}/revoke`)).status).toBe(204)
    }
    expect([await statusWith(key), await statusWith(own.key)]).toEqual([200, 200])
  })
})

describe('in the admin API', () => {
  const rotate = (id: string) => gateway.admin('POST', `/keys/${id}/rotate`)

  test('it is listed and identified as a key of kind app', async () => {
    const { workspaceId, id, key } = await anAppKey()
    const { body } = await gateway.admin<{ items: object[] }>('GET', `/workspaces/${workspaceId}/keys`)
    expect(body.items).toContainEqual(expect.objectContaining({ id, kind: 'app', name: 'Pay' }))
    expect((await gateway.admin('POST', '/keys/identify', { key })).body).toMatchObject({ id, kind: 'app' })
  })

  test('it cannot be rotated before it is activated', async () => {
    expect((await rotate((await anAppKey()).id)).status).toBe(409)
  })

  test('its rotation asks apps for a provision in its workspace, and changes nothing here (OP-227)', async () => {
    const { workspaceId, id, key } = await anAppKey({ isActive: true })
    const apps = testApps(gateway.services.apps)
    const installation = apps.add(workspaceId, { state: 'ACTIVE' })
    expect(await rotate(id)).toMatchObject({ status: 202, body: installation })
    expect(apps.asked).toMatchObject([
      { method: 'POST', path: '/internal/provisions', body: { key: id }, actor: 'bootstrap', workspace: workspaceId },
    ])
    expect(await statusWith(key)).toBe(200)
    const { status, body } = await gateway.admin('POST', `/keys/${id}/rotate`, { overlap_seconds: 5 })
    expect([status, body]).toMatchObject([422, { error: { message: expect.stringContaining('overlap_seconds: ') } }])
    expect((await asApps(workspaceId, 'POST', `${id}/revoke`)).status).toBe(204)
    expect((await rotate(id)).status).toBe(409)
  })

  test('keys that a version before has made of it by rotation end with it', async () => {
    const { workspaceId, id } = await anAppKey({ isActive: true })
    const made = randomUUID()
    await gateway.database.admin`
      insert into api_key (workspace_id, id, app_key_id, kind, key_hash, name, scopes, created_at, activated_at)
      select workspace_id, ${made}, ${id}, kind, sha256(${made}::text::bytea), name, scopes, now(), now()
      from api_key where id = ${id}`
    expect((await asApps(workspaceId, 'POST', `${id}/revoke`)).status).toBe(204)
    expect(await auditOf(made)).toEqual(['apps key.revoked'])
  })
})

test.each([
  ['PUT', ''],
  ['POST', '/activate'],
  ['POST', '/revoke'],
])('%s …%s needs the internal token: a key or the operator token is invalid_api_key', async (method, path) => {
  const { key } = await gateway.aKey()
  const wrong = [key, ADMIN_TOKEN].map((token) => ({ authorization: `Bearer ${token}` }))
  for (const headers of [{}, ...wrong, { 'x-internal-token': 'made-up' }]) {
    const answer = await gateway.send(undefined, method, `/internal/app-keys/${randomUUID()}${path}`, { headers })
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } })
  }
})
