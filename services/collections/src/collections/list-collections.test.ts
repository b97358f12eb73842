import type { Collection } from '@backoffice/contracts/collection.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, type CollectionPage, collectionsService } from '../testing/collections-api.ts'
import { listCollections } from './list-collections.ts'

const { admin, appUrl, send, create, project, takeStatements } = await collectionsService()

const list = async (caller: Caller, query = '') =>
  (await send<CollectionPage>(caller, 'GET', `/v1/collections${query}`)).body
const names = async (caller: Caller, query = '') => (await list(caller, query)).items.map(({ name }) => name)
const refusal = async (caller: Caller, query: string) => {
  const { status, body } = await send(caller, 'GET', `/v1/collections${query}`)
  return [status, body.error.code, body.error.message]
}

/** Creates published collections named 1, 2, … */
async function collections(caller: Caller, count: number): Promise<Collection[]> {
  const made: Collection[] = []
  for (let n = 1; n <= count; n++) made.push(await create(caller, { name: String(n) }))
  return made
}

describe('List rule 1: only published, in-window collections, newest first', () => {
  it('neither drafts nor scheduled-out ones are returned or counted', async () => {
    const caller = aCaller()
    const past = '2020-01-01T00:00:00Z'
    const future = '2999-01-01T00:00:00+02:00'
    await create(caller, { name: 'draft', published: false })
    await create(caller, { name: 'to come', publish_at: future })
    await create(caller, { name: 'over', publish_at: past, unpublish_at: '2020-01-02T00:00:00Z' })
    await create(caller, { name: 'begun', publish_at: past })
    await create(caller, { name: 'in its window', publish_at: past, unpublish_at: future })
    await create(caller, { name: 'always' })
    const { items, total } = await list(caller)
    expect([items.map(({ name }) => name), total]).toEqual([['always', 'in its window', 'begun'], 3])
  })

  it('a window opens and closes by itself', async () => {
    const caller = aCaller()
    const { id } = await create(caller, { publish_at: '2999-01-01T00:00:00Z' })
    expect(await names(caller)).toEqual([])
    await admin`update collection set publish_at = now(), unpublish_at = now() + interval '1 hour' where id = ${id}`
    expect(await names(caller)).toEqual(['Summer'])
    await admin`update collection set publish_at = null, unpublish_at = now() where id = ${id}`
    expect(await names(caller)).toEqual([])
  })

  it('the newest is that made last, whatever changed since', async () => {
    const caller = aCaller()
    const [first] = await collections(caller, 3)
    await send(caller, 'PUT', `/v1/collections/${first?.id}`, { description: 'changed' })
    expect(await names(caller)).toEqual(['3', '2', '1'])
  })

  it('one that is published later takes its place by its age', async () => {
    const caller = aCaller()
    const draft = await create(caller, { name: 'old', published: false })
    await create(caller, { name: 'new' })
    await send(caller, 'PUT', `/v1/collections/${draft.id}`, { published: true })
    expect(await names(caller)).toEqual(['new', 'old'])
  })
})

it('reads no rules, which it does not show', async () => {
  const caller = aCaller()
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 0 }] }
  const { handle } = await create(caller, { membership_type: 'SMART', rules })
  takeStatements()
  await list(caller)
  await send(caller, 'GET', `/v1/collections/${handle}`)
  expect(takeStatements().filter((text) => text.includes('rules'))).toEqual([])
})

it('List rule 2: product_count counts only storefront-available products', async () => {
  const caller = aCaller()
  const states = (['ACTIVE', 'HIDDEN', 'ARCHIVED', 'ACTIVE'] as const).map((status) => aProductState({ status }))
  await project(caller, ...states)
  const picked = await create(caller, { name: 'picked' })
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: states.map(({ id }) => id) })
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 0 }] }
  await create(caller, { name: 'ruled', membership_type: 'SMART', rules })
  const counts = (await list(caller)).items.map(({ name, product_count }) => [name, product_count])
  expect(counts).toEqual([
    ['ruled', 2],
    ['picked', 2],
  ])
})

describe('List rule 3: requires the product scope', () => {
  it.each([['product'], ['product::read'], ['*']])('%s may list', async (scope) => {
    expect((await send(aCaller({ scopes: [scope] }), 'GET', '/v1/collections')).status).toBe(200)
  })

  it.each([['sale'], ['product::create'], ['webhook']])('%s may not', async (scope) => {
    expect(await refusal(aCaller({ scopes: [scope] }), '')).toEqual([
      403,
      'insufficient_scope',
      'API key lacks required scope: product::read',
    ])
  })
})

describe('List rule 4: a page number from 1 and a page size from 1 to 100', () => {
  it.each([
    ['?page=0', 'page: must be an integer from 1 to 1000000000'],
    ['?page=-1', 'page: must be an integer from 1 to 1000000000'],
    ['?page=abc', 'page: must be an integer from 1 to 1000000000'],
    ['?page=1.5', 'page: must be an integer from 1 to 1000000000'],
    ['?limit=0', 'limit: must be an integer from 1 to 100'],
    ['?limit=101', 'limit: must be an integer from 1 to 100'],
    ['?size=0', 'size: must be an integer from 1 to 100'],
    ['?size=101', 'size: must be an integer from 1 to 100'],
    ['?size=abc', 'size: must be an integer from 1 to 100'],
    ['?offset=3', 'offset: unknown parameter; this operation takes page, limit, size'],
  ])('%s is refused', async (query, message) => {
    expect(await refusal(aCaller(), query)).toEqual([400, 'bad_request', message])
  })

  it('the parameters are page and limit, or size (OP-03); 20 a page by default', async () => {
    const caller = aCaller()
    await collections(caller, 21)
    expect((await list(caller)).items.length).toBe(20)
    expect(await names(caller, '?page=2')).toEqual(['1'])
    expect(await names(caller, '?page=2&limit=2')).toEqual(['19', '18'])
    expect(await names(caller, '?page=7&size=3')).toEqual(['3', '2', '1'])
  })
})

it('List rule 5: the page object has exactly page, size, total, total_pages, has_next_page, has_previous_page, items', async () => {
  const caller = aCaller()
  const made = await collections(caller, 3)
  const pages: [string, Omit<CollectionPage, 'items'>, (Collection | undefined)[]][] = [
    ['?limit=2', view(1, 2, 3, 2, true, false), [made[2], made[1]]],
    ['?limit=2&page=2', view(2, 2, 3, 2, false, true), [made[0]]],
    ['?limit=2&page=3', view(3, 2, 3, 2, false, true), []],
    ['?limit=100&page=1000000000', view(1_000_000_000, 100, 3, 1, false, true), []],
  ]
  for (const [query, members, items] of pages) expect(await list(caller, query)).toEqual({ ...members, items })
  expect(await list(aCaller())).toEqual({ ...view(1, 20, 0, 0, false, false), items: [] })
})

const view = (
  page: number,
  size: number,
  total: number,
  total_pages: number,
  has_next_page: boolean,
  has_previous_page: boolean,
) => ({ page, size, total, total_pages, has_next_page, has_previous_page })

it('lists the caller’s workspace only', async () => {
  const [one, other] = [aCaller(), aCaller({ livemode: false })]
  await create(one)
  expect([(await list(one)).total, (await list(other)).total]).toEqual([1, 0])
})

it('takes two statements besides the transaction’s own, whatever the page', async () => {
  const caller = aCaller()
  await collections(caller, 3)
  takeStatements()
  await list(caller, '?limit=100')
  expect(takeStatements().length).toBeLessThanOrEqual(5)
})

it('a page deep down sums the counts of its own collections only', async () => {
  const caller = aCaller()
  await admin`
    with made as (
      insert into collection (workspace_id, id, handle, name, sort_order, membership_type, published, created_at, updated_at)
      select ${caller.workspaceId}, uuidv7(), 'c-' || n || '-x', 'c', 'MANUAL', 'MANUAL', true, now(), now()
      from generate_series(1, 500) as n
      returning workspace_id, id
    )
    insert into membership_version (workspace_id, collection_id, source, sort_order, state)
    select workspace_id, id, 'HAND_PICKED', 'MANUAL', 'CURRENT' from made`
  await admin`analyze collection, membership_version`
  const sent: { text: string; parameters: unknown[] }[] = []
  const onStatement = (text: string, parameters: unknown[]) => void sent.push({ text, parameters })
  const db = openDatabase({ url: appUrl, applicationName: 'test', onStatement })
  whenDone(async () => db.stop?.())
  await serviceClient(db, [listCollections])(caller, 'GET', '/v1/collections?limit=20&page=20')
  const { text = '', parameters = [] } = sent.find((one) => one.text.includes('offset')) ?? {}
  const plan = await db.inWorkspace({ ...caller, traceparent: '' }, (tx) =>
    tx.unsafe(`explain (analyze, format json) ${text}`, parameters as never[]),
  )
  const loops = JSON.stringify(plan).matchAll(/"Relation Name":"membership_version".*?"Actual Loops":(\d+)/g)
  expect(Math.max(...[...loops].map(([, count]) => Number(count)))).toBe(20)
})
