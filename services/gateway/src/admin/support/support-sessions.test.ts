import { testVerifier } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { type TestGateway, testGateway } from '../../testing/test-gateway.ts'
import type { Echo } from '../../testing/test-upstream.ts'
import type { AuditEntry } from '../audit/list-audit.ts'
import type { IssuedToken } from '../operators/issue-token.ts'
import type { OpenedSession } from './support-session.ts'

type Entry = z.output<typeof AuditEntry>

const UNKNOWN = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'
const gateway = await testGateway()
const verify = testVerifier('catalog')
const open = async (workspaceId: string, token?: string) => {
  const path = `/workspaces/${workspaceId}/support-sessions`
  return (await gateway.admin<OpenedSession>('POST', path, { reason: 'ticket 7' }, token)).body
}
const entriesOf = async (session: string) =>
  (await gateway.admin<{ items: Entry[] }>('GET', `/audit?session=${session}`)).body.items.reverse()
const waitingForAudit = (least: number) =>
  eventually('statements wait', async () => {
    const waiting = await gateway.database.admin`
      select from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and not granted and relation = 'audit'::regclass`
    return waiting.length >= least
  })
const callerIn = async ({ body }: { body: Echo }) =>
  (await verify(body.headers['x-internal-token'], new Date(gateway.now()))).caller

test('a session reads in its workspace for half an hour, and no key is made', async () => {
  const { workspaceId } = await gateway.aKey(['product'], true)
  const session = await open(workspaceId)
  expect(session).toMatchObject({ workspace: workspaceId, livemode: false, operator: 'bootstrap', reason: 'ticket 7' })
  expect(session.token).toMatch(/^ss_test_/)
  expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(30 * 60_000)

  const answer = await gateway.send<Echo>(session.token, 'GET', '/v1/products')
  expect(answer.status).toBe(200)
  expect(await callerIn(answer)).toMatchObject({ workspaceId, livemode: false, keyId: session.id, who: 'support' })
  const { scopes } = await callerIn(answer)
  expect(scopes).toContain('sale::read')
  expect(scopes.filter((scope) => !scope.endsWith('::read'))).toEqual([])
  expect((await gateway.admin<{ total: number }>('GET', `/workspaces/${workspaceId}/keys`)).body.total).toBe(1)

  expect((await gateway.send(session.token, 'GET', '/v1/me')).body).toMatchObject({
    key: { id: session.id, kind: 'support', name: 'bootstrap', expires_at: session.expires_at },
    scopes,
  })

  await gateway.letTimePass(29 * 60_000)
  expect((await gateway.send(session.token, 'GET', '/v1/products')).status).toBe(200)
  await gateway.letTimePass(60_000)
  expect(await gateway.send(session.token, 'GET', '/v1/products')).toMatchObject({
    status: 401,
    body: { error: { code: 'invalid_api_key' } },
  })
})

test('each read is in the audit log with operator and session, without its query', async () => {
  const { workspaceId } = await gateway.aKey()
  const { body: ada } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Ada of support' })
  await eventually(
    'the token works',
    async () => (await gateway.admin('GET', '/apps', undefined, ada.token)).status !== 401,
  )
  const { id, token } = await open(workspaceId, ada.token)
  const { headers } = await gateway.send(token, 'GET', '/v1/customers?query=ada@example.com')
  await gateway.send(token, 'GET', `/v1/products/${'x'.repeat(9000)}`)
  const [created, read, long] = await entriesOf(id)
  const shared = { actor: 'Ada of support', session_id: id }
  expect(created).toMatchObject({ ...shared, who: 'operator', action: 'support_session.created', reason: 'ticket 7' })
  expect(read).toMatchObject({
    ...shared,
    who: 'support',
    action: 'support.read',
    target: 'GET /v1/customers',
    request_id: headers['x-request-id'],
    reason: null,
  })
  expect(long?.target).toHaveLength(1000)
})

test('a read that the audit log does not take is not sent to a service', async () => {
  const { token } = await open((await gateway.aKey()).workspaceId)
  const { admin } = gateway.database
  await admin`alter table audit add constraint refuse_all check (false) not valid`
  gateway.catalog.received.length = 0
  const answer = await gateway.send(token, 'GET', '/v1/products')
  await admin`alter table audit drop constraint refuse_all`
  expect([answer.status, gateway.catalog.received.length]).toEqual([500, 0])
})

test('while sessions wait for the audit log, nothing is sent to a service, and keys are looked up', async () => {
  const { workspaceId, key } = await gateway.aKey()
  const { token } = await open(workspaceId)
  expect((await gateway.send(token, 'GET', '/v1/products')).status).toBe(200)
  gateway.catalog.received.length = 0
  const answers = await gateway.database.admin.begin(async (tx) => {
    await tx`lock table audit`
    const waiting = Promise.all(Array.from({ length: 12 }, () => gateway.send(token, 'GET', '/v1/products')))
    await waitingForAudit(1)
    expect((await gateway.send(key, 'GET', '/v1/products')).status).toBe(200)
    expect(gateway.catalog.received.length).toBe(1)
    return () => waiting
  })
  await answers()
})

test('it writes only with a reason, which the audit log has', async () => {
  const { id, token } = await open((await gateway.aKey()).workspaceId)
  gateway.catalog.received.length = 0
  for (const reason of [undefined, ' ']) {
    const headers: Record<string, string> = reason === undefined ? {} : { 'support-reason': reason }
    expect(await gateway.send(token, 'POST', '/v1/products', { body: {}, headers })).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope', message: expect.stringMatching(/^Support-Reason: /) } },
    })
  }
  expect(gateway.catalog.received).toEqual([])
  const headers = { 'support-reason': 'the merchant asked for it' }
  const written = await gateway.send<Echo>(token, 'POST', '/v1/products', { body: {}, headers })
  expect((await callerIn(written)).scopes).toContain('product')
  expect(written.body.headers).not.toHaveProperty('support-reason')
  expect((await entriesOf(id)).slice(1)).toMatchObject([
    { who: 'support', action: 'support.written', target: 'POST /v1/products', reason: 'the merchant asked for it' },
  ])
})

test('a suspended workspace is read all the same', async () => {
  const { workspaceId } = await gateway.aKey()
  await gateway.admin('POST', `/workspaces/${workspaceId}/suspend`, {})
  const { token } = await open(workspaceId)
  expect((await gateway.send(token, 'GET', '/v1/products')).status).toBe(200)
})

test('it ends early by DELETE, once, and with its operator', async () => {
  const { workspaceId } = await gateway.aKey()
  const isRefused = async (token: string) => (await gateway.send(token, 'GET', '/v1/products')).status === 401
  const { id, token } = await open(workspaceId)
  expect(await isRefused(token)).toBe(false)
  for (const _ of [1, 2]) expect((await gateway.admin('DELETE', `/support-sessions/${id}`)).status).toBe(204)
  await eventually('the session is over', () => isRefused(token))

  const { body: eve } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Eve' })
  const ofEve = await open(workspaceId, eve.token)
  await gateway.admin('DELETE', `/operators/${eve.id}`)
  await eventually("Eve's session is over", () => isRefused(ofEve.token))
  const { body } = await gateway.admin<{ items: unknown[] }>('GET', `/workspaces/${workspaceId}/support-sessions`)
  const ended_at = expect.any(String)
  expect(body.items).toMatchObject([
    { id: ofEve.id, operator: 'Eve', ended_at },
    { id, operator: 'bootstrap', ended_at },
  ])
  expect(JSON.stringify(body)).not.toContain('token')
})

test('a session that is opened while its operator is deleted is over, too', async () => {
  const { workspaceId } = await gateway.aKey()
  const { body: eve } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Eve in haste' })
  await open(workspaceId, eve.token)
  const answers = await gateway.database.admin.begin(async (tx) => {
    await tx`lock table audit`
    const deleting = gateway.admin('DELETE', `/operators/${eve.id}`)
    await waitingForAudit(1)
    const opening = open(workspaceId, eve.token)
    await waitingForAudit(2)
    return () => Promise.all([deleting, opening])
  })
  const [deleted, { token }] = await answers()
  expect([deleted.status, token]).toEqual([204, expect.any(String)])
  expect((await gateway.send(token, 'GET', '/v1/products')).status).toBe(401)
})

test('one of bootstrap ends with another ADMIN_TOKEN, unless a replica of the version before has opened it', async () => {
  const { workspaceId } = await gateway.aKey()
  const { body: ada } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Ada who stays' })
  const [ofBootstrap, ofAda, older] = [
    await open(workspaceId),
    await open(workspaceId, ada.token),
    await open(workspaceId),
  ]
  await gateway.database.admin`update support_session set fingerprint = null where id = ${older.id}`
  const adminToken = 'another-operator-token'
  const after = await testGateway({ database: gateway.database, adminToken })
  const statusesAt = (replica: TestGateway) =>
    Promise.all(
      [ofBootstrap, ofAda, older].map(async ({ token }) => (await replica.send(token, 'GET', '/v1/products')).status),
    )
  expect(await statusesAt(gateway)).toEqual([200, 200, 200])
  expect(await statusesAt(after)).toEqual([401, 200, 200])
  const identified = await after.admin('POST', '/keys/identify', { key: ofBootstrap.token }, adminToken)
  expect(identified.body).toMatchObject({ state: 'ENDED' })
})

test('an unknown workspace or session is not_found, and a token opens no admin API', async () => {
  const { token } = await open((await gateway.aKey()).workspaceId)
  const path = `/workspaces/${UNKNOWN}/support-sessions`
  const answers = [
    await gateway.admin('POST', path, {}),
    await gateway.admin('GET', path),
    await gateway.admin('DELETE', `/support-sessions/${UNKNOWN}`),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  expect((await gateway.admin('GET', '/workspaces', undefined, token)).status).toBe(401)
})

test('keys and tokens are looked up by their indexes, as the worker role', async () => {
  const { key } = await gateway.aKey()
  gateway.takeWorkerStatements()
  await gateway.send(key, 'GET', '/v1/products')
  const [lookUp = ''] = gateway.takeWorkerStatements().filter((text) => text.includes('credential.hash'))
  const plan = await gateway.worker.sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`
    return tx.unsafe(`explain (generic_plan) ${lookUp}`)
  })
  const text = plan.map((line) => line['QUERY PLAN']).join('\n')
  for (const index of ['api_key_key_hash_key', 'support_session_token_hash_key']) expect(text).toContain(index)
})
