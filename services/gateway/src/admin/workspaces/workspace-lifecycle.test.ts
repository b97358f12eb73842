import { request } from 'undici'
import { expect, it } from 'vitest'
import type { z } from 'zod'
import { testGateway } from '../../testing/test-gateway.ts'
import type { Workspace } from './create-workspace.ts'
import type { WorkspaceStatus } from './workspace.ts'

const gateway = await testGateway()
const { admin, send, database } = gateway

type Created = z.output<typeof Workspace>
type Status = z.output<typeof WorkspaceStatus>

/** A live workspace and its sandbox, each with a key. */
async function aPair() {
  const { body: live } = await admin<Created>('POST', '/workspaces', { name: 'Pair', sandbox: true })
  const sandbox = live.sandbox?.id ?? ''
  const keyOf = async (id: string) =>
    (await admin<{ key: string }>('POST', `/workspaces/${id}/keys`, { name: 'key', scopes: ['*'] })).body.key
  return { live: live.id, sandbox, liveKey: await keyOf(live.id), sandboxKey: await keyOf(sandbox) }
}

const messageFor = async (key: string) => {
  const { status, body } = await send(key, 'GET', '/v1/products')
  return status === 200 ? 'answered' : `${status} ${body.error.code}: ${body.error.message}`
}
const SUSPENDED = '401 invalid_api_key: The workspace of the API key is suspended'
const DELETED = '401 invalid_api_key: The workspace of the API key has been deleted'

const published = async (...ids: string[]) => {
  const rows = await database.admin<{ type: string; key: string; livemode: boolean }[]>`
    select type, key, livemode from outbox where workspace_id = any(${ids}) and workspace_id::text = key order by id`
  return rows.map(({ type, key, livemode }) => [type, ids.indexOf(key), livemode])
}

it('the keys of a suspended workspace and of its sandbox are refused until it is resumed, and others are not', async () => {
  const [mine, other] = [await aPair(), await aPair()]
  expect(await messageFor(mine.liveKey)).toBe('answered')
  const suspended = await admin<Status>('POST', `/workspaces/${mine.live}/suspend`, { reason: 'unpaid' })
  expect([suspended.status, suspended.body]).toMatchObject([
    200,
    { id: mine.live, status: 'SUSPENDED', suspended_at: expect.any(String), suspension_reason: 'unpaid' },
  ])
  for (const key of [mine.liveKey, mine.sandboxKey]) await expect.poll(() => messageFor(key)).toBe(SUSPENDED)
  expect(await messageFor(other.liveKey)).toBe('answered')
  const resumed = await admin<Status>('POST', `/workspaces/${mine.live}/resume`)
  expect(resumed.body).toMatchObject({ status: 'ACTIVE', suspended_at: null, suspension_reason: null })
  for (const key of [mine.liveKey, mine.sandboxKey]) await expect.poll(() => messageFor(key)).toBe('answered')
  expect(await published(mine.live, mine.sandbox)).toEqual(
    expect.arrayContaining([
      ['workspace.suspended', 0, true],
      ['workspace.suspended', 1, false],
      ['workspace.resumed', 0, true],
      ['workspace.resumed', 1, false],
    ]),
  )
})

it('suspending or resuming again changes nothing, is audited, and publishes nothing', async () => {
  const { live } = await aPair()
  const first = await admin<Status>('POST', `/workspaces/${live}/suspend`, { reason: 'first' })
  gateway.passTime(1000)
  const again = await admin<Status>('POST', `/workspaces/${live}/suspend`, { reason: 'second' })
  expect(again.body).toEqual(first.body)
  for (const _ of [1, 2]) expect((await admin<Status>('POST', `/workspaces/${live}/resume`, {})).status).toBe(200)
  expect(await published(live)).toEqual([
    ['workspace.suspended', 0, true],
    ['workspace.resumed', 0, true],
  ])
  const { body } = await admin<{ items: { action: string; target: string }[] }>('GET', '/audit?limit=4')
  expect(body.items.map(({ action }) => action)).toEqual([
    'workspace.resumed',
    'workspace.resumed',
    'workspace.suspended',
    'workspace.suspended',
  ])
})

it('a change is later than the one before, whatever the clock says: webhook delivery ignores what is not', async () => {
  const { live, sandbox } = await aPair()
  for (const act of ['suspend', 'resume', 'suspend']) {
    await admin('POST', `/workspaces/${live}/${act}`)
    gateway.passTime(-5000)
  }
  const { body } = await admin<Status>('POST', `/workspaces/${live}/suspend`)
  for (const id of [live, sandbox]) {
    const rows = await database.admin<{ type: string; occurred_at: Date }[]>`
      select type, occurred_at from outbox where workspace_id = ${id} and key = ${id} order by occurred_at`
    const types = ['suspended', 'resumed', 'suspended'].map((change) => `workspace.${change}`)
    expect(rows.map(({ type }) => type)).toEqual(types)
    expect(new Set(rows.map(({ occurred_at }) => occurred_at.getTime())).size).toBe(3)
    expect(rows[2]?.occurred_at.toISOString()).toBe(body.suspended_at)
  }
})

it('a sandbox is suspended and resumed alone, but not resumed while its live workspace is suspended', async () => {
  const { live, sandbox, liveKey, sandboxKey } = await aPair()
  await admin('POST', `/workspaces/${sandbox}/suspend`)
  await expect.poll(() => messageFor(sandboxKey)).toBe(SUSPENDED)
  expect(await messageFor(liveKey)).toBe('answered')
  expect((await admin<Status>('POST', `/workspaces/${sandbox}/resume`)).body.status).toBe('ACTIVE')
  await admin('POST', `/workspaces/${live}/suspend`)
  const refused = await admin('POST', `/workspaces/${sandbox}/resume`)
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'The live workspace of this sandbox is suspended; resume that one',
  ])
})

it('a list shows which workspaces are suspended, and no deleted ones', async () => {
  const [suspended, deleted] = [await aPair(), await aPair()]
  await admin('POST', `/workspaces/${suspended.live}/suspend`)
  await admin('DELETE', `/workspaces/${deleted.live}`)
  const { items } = (await admin<{ items: Created[] }>('GET', '/workspaces')).body
  expect(items.find(({ id }) => id === suspended.live)).toMatchObject({ status: 'SUSPENDED' })
  expect(items.find(({ id }) => id === deleted.live)).toBeUndefined()
})

it('a deleted workspace goes with its sandbox: its keys are refused, and every service is told once', async () => {
  const { live, sandbox, liveKey, sandboxKey } = await aPair()
  expect(await messageFor(liveKey)).toBe('answered')
  const deleted = await admin<{ workspace: string; requested_at: string }>('DELETE', `/workspaces/${live}`)
  expect([deleted.status, deleted.body.workspace]).toEqual([202, live])
  for (const key of [liveKey, sandboxKey]) await expect.poll(() => messageFor(key)).toBe(DELETED)
  gateway.passTime(1000)
  const again = await admin('DELETE', `/workspaces/${live}`)
  expect([again.status, again.body]).toEqual([202, deleted.body])
  expect(await published(live, sandbox)).toHaveLength(2)
  expect(await database.admin`select from deleted_workspace where workspace_id = any(${[live, sandbox]})`).toHaveLength(
    2,
  )
})

it('a sandbox is deleted alone', async () => {
  const { live, sandbox, liveKey, sandboxKey } = await aPair()
  await admin('DELETE', `/workspaces/${sandbox}`)
  await expect.poll(() => messageFor(sandboxKey)).toBe(DELETED)
  expect(await messageFor(liveKey)).toBe('answered')
  const { items } = (await admin<{ items: Created[] }>('GET', '/workspaces')).body
  expect(items.find(({ id }) => id === live)).toMatchObject({ sandbox: null })
})

it.each([
  ['POST', '/suspend'],
  ['POST', '/resume'],
  ['DELETE', ''],
  ['GET', '/deletion'],
])('%s %s of a workspace that never was is not found', async (method, path) => {
  const answer = await admin(method, `/workspaces/${crypto.randomUUID()}${path}`)
  expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
})

it('a deleted workspace gets no key, no settings, no suspension and no app, and shows none', async () => {
  const { live } = await aPair()
  const appKey = crypto.randomUUID()
  await database.admin`
    insert into api_key (workspace_id, id, app_key_id, kind, key_hash, name, scopes, created_at, activated_at)
    select workspace_id, ${appKey}, ${appKey}, 'app', sha256(key_hash), name, scopes, created_at, now()
    from api_key where workspace_id = ${live}`
  await admin('DELETE', `/workspaces/${live}`)
  expect((await admin('POST', `/keys/${appKey}/rotate`)).status).toBe(404)
  for (const [method, path, body] of [
    ['POST', '/keys', { name: 'late', scopes: ['*'] }],
    ['PUT', '/settings', {}],
    ['POST', '/suspend', {}],
    ['POST', '/resume', {}],
    ['POST', '/installations', { provider: 'acme-pay' }],
    ['GET', '/installations'],
    ['GET', '/keys'],
  ] as const)
    expect([path, (await admin(method, `/workspaces/${live}${path}`, body)).status]).toEqual([path, 404])
})

it('the check adds up what each service has of the workspace and its sandbox, and is complete when all have nothing', async () => {
  const { live, sandbox } = await aPair()
  await admin('DELETE', `/workspaces/${live}`)
  const left = { rows: { product: 2, variant: 3 }, files: 1 }
  for (const service of Object.values(gateway.services))
    service.answer = (asked, response) => {
      const isKnown = asked.url === `/internal/workspaces/${live}/rows` || asked.url?.includes(sandbox)
      response.writeHead(isKnown && asked.headers['x-internal-token'] ? 200 : 404).end(JSON.stringify(left))
    }
  await gateway.imports.stop()
  const { body } = await admin<{ completed: boolean; services: object[] }>('GET', `/workspaces/${live}/deletion`)
  expect(body.completed).toBe(false)
  expect(body.services).toEqual(
    expect.arrayContaining([
      { service: 'gateway', rows: expect.any(Number), files: 0 },
      { service: 'catalog', rows: 10, files: 2 },
      { service: 'imports', rows: null, files: null },
    ]),
  )
})

it('the check counts the sandboxes that resets have replaced, until the last pass of their deletion', async () => {
  const { live } = await aPair()
  await admin('DELETE', `/workspaces/${live}`)
  await gateway.database.admin`
    with former as (
      insert into workspace_deletion (id, parent, requested_at)
      select uuidv7(), ${live}, now() from generate_series(1, 1000) returning id
    )
    insert into deleted_workspace (workspace_id, livemode, next_pass_at)
    select id, false, case when row_number() over () <= 40 then now() end from former`
  gateway.services.catalog.answer = (_, response) => {
    response.writeHead(200).end(JSON.stringify({ rows: { product: 1 }, files: 0 }))
  }
  const left = async () => (await admin<{ services: object[] }>('GET', `/workspaces/${live}/deletion`)).body.services
  expect(await left()).toContainEqual({ service: 'catalog', rows: 42, files: 0 })
  await gateway.database.admin`update deleted_workspace set next_pass_at = null`
  expect(await left()).toContainEqual({ service: 'catalog', rows: 1, files: 0 })
})

it('nobody but an operator suspends or deletes', async () => {
  const { live, liveKey } = await aPair()
  for (const [method, path] of [
    ['POST', '/suspend'],
    ['POST', '/resume'],
    ['DELETE', ''],
    ['GET', '/deletion'],
  ] as const) {
    const answer = await request(`${gateway.url}/admin/v1/workspaces/${live}${path}`, {
      method,
      headers: { authorization: `Bearer ${liveKey}` },
    })
    expect(answer.statusCode).toBe(401)
    await answer.body.dump()
  }
})
