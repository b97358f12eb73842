import { aCaller, serviceHeadersOf } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { newSecret } from '../../credentials/secret-text.ts'
import { testGateway } from '../../testing/test-gateway.ts'
import type { IssuedKey } from '../keys/key.ts'
import type { IssuedToken } from '../operators/issue-token.ts'
import type { AuditEntry } from './list-audit.ts'

type Entry = z.output<typeof AuditEntry>

const gateway = await testGateway()

/** Entries written while `work` runs, oldest first. */
async function writtenDuring(work: () => Promise<unknown>): Promise<Entry[]> {
  const list = async () => (await gateway.admin<{ items: Entry[]; total: number }>('GET', '/audit?limit=100')).body
  const before = (await list()).total
  await work()
  const after = await list()
  return after.items.slice(0, after.total - before).reverse()
}

test('every act is written, with who, what and in which request, newest first', async () => {
  let id = ''
  let keyId = ''
  let newKeyId = ''
  let operatorId = ''
  let newOperatorId = ''
  const requestIds: unknown[] = []
  const act = async <Body>(method: string, path: string, body?: unknown) => {
    const answer = await gateway.admin<Body>(method, path, body)
    requestIds.push(answer.headers['x-request-id'])
    return answer.body
  }
  const entries = await writtenDuring(async () => {
    id = (await act<{ id: string }>('POST', '/workspaces', { name: 'Shop', sandbox: true })).id
    await act('PUT', `/workspaces/${id}/settings`, { product_statuses: ['ACTIVE'] })
    keyId = (await act<IssuedKey>('POST', `/workspaces/${id}/keys`, { name: 'a', scopes: ['*'] })).id
    newKeyId = (await act<IssuedKey>('POST', `/keys/${keyId}/rotate`, {})).id
    await act('DELETE', `/keys/${newKeyId}`)
    operatorId = (await act<IssuedToken>('POST', '/operators', { name: 'Ada' })).id
    newOperatorId = (await act<IssuedToken>('POST', `/operators/${operatorId}/rotate`, {})).id
    await act('DELETE', `/operators/${newOperatorId}`)
  })
  expect(entries.map(({ action, target }) => [action, target])).toEqual([
    ['workspace.created', `workspaces/${id}`],
    ['settings.updated', `workspaces/${id}/settings`],
    ['key.created', `keys/${keyId}`],
    ['key.rotated', `keys/${keyId}`],
    ['key.created', `keys/${newKeyId}`],
    ['key.revoked', `keys/${newKeyId}`],
    ['operator.created', `operators/${operatorId}`],
    ['operator.rotated', `operators/${operatorId}`],
    ['operator.created', `operators/${newOperatorId}`],
    ['operator.deleted', `operators/${newOperatorId}`],
  ])
  expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(['bootstrap']))
  expect([...new Set(entries.map(({ request_id }) => request_id))]).toEqual(requestIds)
})

test('an act has the name of the operator whose token was sent', async () => {
  const { body: ada } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Ada the second' })
  const entries = await writtenDuring(async () => {
    await gateway.admin('POST', '/workspaces', { name: 'Shop' }, ada.token)
    await gateway.admin('POST', '/operators', { name: 'Grace' }, ada.token)
  })
  expect(entries.map(({ actor }) => actor)).toEqual(['Ada the second', 'Ada the second'])
  const ofAda = await gateway.admin<{ items: Entry[] }>('GET', '/audit?actor=Ada%20the%20second')
  expect(ofAda.body.items.reverse()).toEqual(entries)
})

test('who acted is told by what they came with, and no name changes it', async () => {
  const named = async (name: string) => {
    const { body } = await gateway.admin<IssuedToken>('POST', '/operators', { name: `Of ${name}` })
    // As a version without reserved names has left one.
    await gateway.database.admin`update operator_token set name = ${name} where id = ${body.id}`
    return body.token
  }
  const tokens = await Promise.all(['merchant', 'apps'].map(named))
  const { workspaceId } = await gateway.aKey()
  const entries = await writtenDuring(async () => {
    for (const token of tokens) await gateway.admin('POST', '/workspaces', { name: 'Shop' }, token)
    const headers = { ...(await serviceHeadersOf(aCaller({ workspaceId }), 'gateway')) }
    const body = { secret: newSecret().toString('base64'), name: 'Pay', scopes: ['sale'] }
    await gateway.send(undefined, 'PUT', `/internal/app-keys/${crypto.randomUUID()}`, { headers, body })
  })
  expect(entries.map(({ who, actor, action }) => [who, actor, action])).toEqual([
    ['operator', 'merchant', 'workspace.created'],
    ['operator', 'apps', 'workspace.created'],
    ['system', 'apps', 'key.created'],
  ])
})

test('entries of former versions are read by their name, and as nobody where it could be of two', async () => {
  const other = await testGateway()
  const written = ['Ada', 'merchant', 'apps', 'Merchant']
  const add = (actor: string) => other.database.admin`
    insert into audit (at, actor, action, target, request_id) values (${new Date(other.now())}, ${actor}, 'a', 'b', 'c')`
  const list = async () => {
    const { body } = await other.admin<{ items: Entry[] }>('GET', '/audit')
    const former = body.items.filter(({ action }) => action === 'a')
    return former.reverse().map(({ who, actor }) => [actor, who])
  }
  for (const actor of written) await add(actor)
  expect(await list()).toEqual([
    ['Ada', 'operator'],
    ['merchant', 'merchant'],
    ['apps', 'system'],
    ['Merchant', 'operator'],
  ])
  const { body } = await other.admin<IssuedToken>('POST', '/operators', { name: 'Grace' })
  await other.database.admin`update operator_token set name = 'merchant' where id = ${body.id}`
  expect(await list()).toEqual([
    ['Ada', 'operator'],
    ['merchant', null],
    ['apps', 'system'],
    ['Merchant', 'operator'],
  ])
})

test('the acts on one workspace are listed without those on others and on the platform', async () => {
  const { workspaceId, id } = await gateway.aKey()
  await gateway.aKey()
  const { body } = await gateway.admin<{ items: Entry[]; total: number }>('GET', `/audit?workspace=${workspaceId}`)
  expect(body.items.map(({ target }) => target)).toEqual([`keys/${id}`, `workspaces/${workspaceId}`])
  expect(body.total).toBe(2)
})

describe('filters', () => {
  const list = async (query: string) =>
    (await gateway.admin<{ items: Entry[]; total: number }>('GET', `/audit?${query}`)).body
  const { admin } = gateway.database
  const at = (minute: number) => new Date(Date.UTC(2020, 0, 1, 0, minute))
  const add = (minute: number, action: string, target: string) => admin`
    insert into audit (at, actor, action, target, request_id) values (${at(minute)}, 'filtered', ${action}, ${target}, 'c')`

  test('by action, target and time all hold, and pages after an entry go on behind it', async () => {
    const both = ['a.done', 'b.done'].flatMap((action) => ['one', 'two'].map((target) => [action, target] as const))
    for (const [index, [action, target]] of both.entries()) await add(index, action, target)
    const found = async (query: string) => (await list(`actor=filtered&${query}`)).items.map((one) => one.at)
    const times = (...minutes: number[]) => minutes.map((minute) => at(minute).toISOString())
    expect(await found('')).toEqual(times(3, 2, 1, 0))
    expect(await found('action=b.done')).toEqual(times(3, 2))
    expect(await found('target=one')).toEqual(times(2, 0))
    expect(await found('action=a.done&target=two')).toEqual(times(1))
    expect(await found(`since=${at(1).toISOString()}&until=${at(3).toISOString()}`)).toEqual(times(2, 1))

    const first = await list('actor=filtered&limit=2')
    const last = first.items.at(-1)?.id
    const second = await list(`actor=filtered&limit=2&after=${last}`)
    expect(second).toMatchObject({ total: 4, has_next_page: false, has_previous_page: true })
    expect(second.items.map((one) => one.at)).toEqual(times(1, 0))
    expect(await list(`action=other&after=${last}`)).toMatchObject({ error: { code: 'unprocessable' } })
    for (const wrong of ['after=x', 'since=today', 'action=', 'colour=red'])
      expect(await list(wrong)).toMatchObject({ error: { code: 'bad_request' } })
  })

  test.each(['actor', 'action', 'target', 'workspace'])(
    'a page by %s reads an index, however long the log',
    async (name) => {
      await admin`
      insert into audit (workspace_id, at, actor, action, target, request_id)
      select gen_random_uuid(), now() - make_interval(secs => n), n, n, n, 'c' from generate_series(1, 5000) as n`
      await admin`analyze audit`
      gateway.takeWorkerStatements()
      await list(`${name}=${name === 'workspace' ? crypto.randomUUID() : 'many'}`)
      const [page = ''] = gateway.takeWorkerStatements().filter((text) => text.includes('limit'))
      const plan = await admin.unsafe(`explain (generic_plan) ${page}`)
      expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain(`audit_of_${name}`)
    },
  )
})

test('the order is that of the times shown, also when rows were written in another order', async () => {
  const at = (second: number) => new Date(gateway.now() + 3_600_000 + second * 1000)
  for (const second of [2, 3, 1])
    await gateway.database.admin`
      insert into audit (at, actor, action, target, request_id) values (${at(second)}, 'late', 'a', 'b', 'c')`
  const { body } = await gateway.admin<{ items: Entry[] }>('GET', '/audit')
  expect(body.items.slice(0, 3).map((entry) => entry.at)).toEqual([3, 2, 1].map((second) => at(second).toISOString()))
})

test('what was refused is not written', async () => {
  const { workspaceId, id } = await gateway.aKey()
  await gateway.admin('DELETE', `/keys/${id}`)
  const entries = await writtenDuring(async () => {
    await gateway.admin('POST', `/keys/${id}/rotate`, {})
    await gateway.admin('POST', `/workspaces/${workspaceId}/keys`, { name: 'a', scopes: ['nothing'] })
    await gateway.admin('PUT', '/workspaces/0198c2f1-a3b4-7c5d-8e9f-0123456789ab/settings', {})
    await gateway.send(undefined, 'GET', '/admin/v1/audit')
  })
  expect(entries).toEqual([])
})

test('an act that cannot be written is not done', async () => {
  const { workspaceId } = await gateway.aKey()
  const { admin } = gateway.database
  await admin`alter table audit add constraint refuse_all check (false) not valid`
  const answer = await gateway.admin('POST', `/workspaces/${workspaceId}/keys`, { name: 'lost', scopes: ['*'] })
  await admin`alter table audit drop constraint refuse_all`
  expect(answer).toMatchObject({ status: 500, body: { error: { code: 'internal_error' } } })
  expect(await admin`select from api_key where name = 'lost'`).toEqual([])
})
