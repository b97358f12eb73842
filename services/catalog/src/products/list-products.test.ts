import { writeBatch } from '@backoffice/postgres/lists/write-more-words.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { listApi } from './testing/product-lists.ts'
import { aVariableProduct } from './testing/product-samples.ts'

const { admin, create, db, list, names, send, takeStatements } = await listApi()

const caller = aCaller()
const cup = await create(caller, {
  name: 'Crème-Brûlée Cup',
  category: { name: 'Kitchen' },
  tags: ['New Arrivals'],
  sku: 'CUP',
})
const shirt = await create(caller, {
  ...aVariableProduct({ name: 'Blue SHIRT', status: 'HIDDEN' }),
  sku: undefined,
  stock: undefined,
  price: undefined,
  cost: undefined,
})
const card = await create(caller, {
  name: 'Gift card 50% (blue)',
  type: 'VIRTUAL_PRODUCT',
  tags: ['New Arrivals', 'Gifts'],
})
const [, { sku: mediumShirt } = { sku: '' }] = shirt.variants
const [kitchen] = cup.categories
const [{ id: arrivals } = { id: '' }] = await admin<{ id: string }[]>`
  select id from tag where workspace_id = ${caller.workspaceId} and slug = 'new-arrivals'`
await admin`update product set updated_at = '2026-02-03T10:00:00.500Z' where id = ${shirt.id}`
await admin`update product set updated_at = '2026-02-03T09:00:00Z' where id in ${admin([cup.id, card.id])}`

it('answers a page object of product bodies, newest first (OP-03, OP-19)', async () => {
  const { items, ...page } = await list(caller, 'page=1&limit=2')
  expect(page).toEqual({
    page: 1,
    size: 2,
    total: 3,
    total_pages: 2,
    has_next_page: true,
    has_previous_page: false,
  })
  const dated = (product: object) => ({ ...product, updated_at: expect.any(String) })
  expect(items).toEqual([dated(card), dated(shirt)])
})

it.each([
  ['status=ACTIVE', ['card', 'cup']],
  ['status=ARCHIVED', []],
  ['type=VIRTUAL_PRODUCT', ['card']],
  ['status=HIDDEN&type=VARIABLE_PRODUCT', ['shirt']],
  ['category=kitchen', ['cup']],
  [`category=${kitchen?.id}`, ['cup']],
  [`category=${kitchen?.id.toUpperCase()}`, ['cup']],
  ['tag=new-arrivals', ['card', 'cup']],
  ['tag=New%20Arrivals', ['card', 'cup']],
  [`tag=${arrivals.toUpperCase()}`, ['card', 'cup']],
  ['sku=CUP', ['cup']],
  ['sku=cup', []],
  [`sku=${mediumShirt}`, ['shirt']],
  ['updated_since=2026-02-03T10:01:00.500Z', ['shirt']],
  ['updated_since=2026-02-03T10:01:00.501Z', []],
  ['updated_since=2026-02-03T11:01:00.500%2B01:00', ['shirt']],
  ['updated_since=2026-02-03T09:00:00Z', ['card', 'shirt', 'cup']],
  ['tag=new-arrivals&category=kitchen', ['cup']],
  ['tag=new-arrivals&type=VIRTUAL_PRODUCT&query=card&status=ACTIVE', ['card']],
  ['tag=new-arrivals&status=HIDDEN', []],
  ['query=blue&updated_since=2026-02-03T10:00:00Z', ['shirt']],
  ['sku=CUP&query=blue', []],
])('the filter %s finds %j (OP-92)', async (query, expected) => {
  const ids = { [cup.id]: 'cup', [shirt.id]: 'shirt', [card.id]: 'card' }
  const { items, total } = await list(caller, query)
  expect(items.map(({ id }) => ids[id])).toEqual(expected)
  expect(total).toBe(expected.length)
})

it.each([
  ['blue', ['card', 'shirt']],
  ['BLU', ['card', 'shirt']],
  ['lue', []],
  ['creme', ['cup']],
  ['CRÈME bru', ['cup']],
  ['brulee-creme', ['cup']],
  ['cup creme cup c', ['cup']],
  ['c', ['card', 'cup']],
  ['blue shirt', ['shirt']],
  ['blue shirts', []],
  ['50', ['card']],
  ['50%', ['card']],
  ['%', 'bad_request'],
  ['%50%', ['card']],
  ['_lue', []],
  ['b_ue', []],
  ["blue' or 'a'='a", []],
  ["'blue'", ['card', 'shirt']],
  ['blue:*', ['card', 'shirt']],
  ['blue & shirt', ['shirt']],
  ['blue | cup', []],
  ['blue\\', ['card', 'shirt']],
  ['\u{1d7d3}0', ['card']],
])('the query %j finds %j: words of the name begin with all of its words (OP-92)', async (query, expected) => {
  const ids = { [cup.id]: 'cup', [shirt.id]: 'shirt', [card.id]: 'card' }
  const answer = await send<{ items: { id: string }[]; error?: { code: string } }>(
    caller,
    'GET',
    `/v1/products?query=${encodeURIComponent(query)}`,
  )
  expect(answer.body.error?.code ?? answer.body.items.map(({ id }) => ids[id])).toEqual(expected)
})

const OTHERWISE: [query: string, found: string[]][] = [
  ['oneil', ["O'Neil T-Shirt"]],
  ['tshirt oneil', ["O'Neil T-Shirt"]],
  ["o'neil t-shirt", ["O'Neil T-Shirt"]],
  ['shirt', ["O'Neil T-Shirt"]],
  ['抹茶', ['東京抹茶ラテ (Tokyo)']],
  ['茶ラ', ['東京抹茶ラテ (Tokyo)']],
  ['ラテ tokyo', ['東京抹茶ラテ (Tokyo)']],
  ['東京抹茶ラテ', ['東京抹茶ラテ (Tokyo)']],
  ['京茶', []],
  ['irt', []],
]

it('finds names by parts written together, and within words without spaces: also those of before (OP-220)', async () => {
  const [now, before] = [aCaller(), aCaller()]
  const found = async (where: typeof now) => {
    const answers = OTHERWISE.map(async ([query]) => [query, await names(where, `query=${encodeURIComponent(query)}`)])
    return Promise.all(answers)
  }
  const createIn = async (where: typeof now) => {
    for (const name of ["O'Neil T-Shirt", '東京抹茶ラテ (Tokyo)', 'Mug']) await create(where, { name })
  }
  await createIn(now)
  expect(await found(now)).toEqual(OTHERWISE)
  await admin`alter table product disable trigger more_words_of_products`
  await createIn(before)
  await admin`alter table product enable trigger more_words_of_products`
  expect([await names(before, 'query=shirt'), await names(before, 'query=oneil')]).toEqual([["O'Neil T-Shirt"], []])
  const writing = () => db.inWorkspace({ ...before, traceparent: '' }, (tx) => writeBatch(tx, 'product'))
  // They share the rows, or one of them finds none left.
  expect(await Promise.all([writing(), writing()])).toContain(true)
  expect(await writing()).toBe(false)
  expect(await found(before)).toEqual(OTHERWISE)
  for (const { id } of (await list(before)).items) {
    await send(before, 'PUT', `/v1/products/${id}`, { name: 'Mug' })
  }
  const words = await admin`select distinct word from product_word where workspace_id = ${before.workspaceId}`
  expect([...words]).toEqual([{ word: 'mug' }])
})

it('has a change that waited for a lock while the list was read last (OP-92)', async () => {
  const caller = aCaller()
  const { id } = await create(caller)
  let changed: Promise<unknown> | undefined
  let readAt = ''
  await admin.begin(async (other) => {
    await other`select from product where id = ${id} for update`
    changed = send(caller, 'PUT', `/v1/products/${id}`, { name: 'Late' })
    await eventually('the change waits', async () => {
      const waiting = await admin`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return waiting.length === 1
    })
    readAt = new Date().toISOString()
    expect(await names(caller, `updated_since=${readAt}&query=late`)).toEqual([])
  })
  await changed
  expect(await names(caller, `updated_since=${readAt}`)).toEqual(['Late'])
})

it('finds a product by its new name only once it is renamed, and not at all once it is deleted', async () => {
  const caller = aCaller()
  const { id } = await create(caller, { name: 'Oak Table' })
  await send(caller, 'PUT', `/v1/products/${id}`, { name: 'Oak Desk', slug: 'desk' })
  const found = async () => [
    await names(caller, 'query=table'),
    await names(caller, 'query=desk'),
    await names(caller, 'query=oak'),
  ]
  expect(await found()).toEqual([[], ['Oak Desk'], ['Oak Desk']])
  await send(caller, 'DELETE', `/v1/products/${id}`)
  expect(await found()).toEqual([[], [], []])
  expect(await admin`select from product_word where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
})

it('takes names whose letters unfold to many, of 126 words, and of one word, whose first 64 letters count', async () => {
  const caller = aCaller()
  const [long, many, word] = ['\ufdfa'.repeat(255), 'a b '.repeat(63).trim(), 'x'.repeat(255)]
  for (const name of [long, many, word]) await create(caller, { name })
  expect(await names(caller, 'query=b')).toEqual([many])
  expect(await names(caller, `query=${encodeURIComponent('\ufdfa')}`)).toEqual([long])
  expect(await names(caller, `query=${'x'.repeat(100)}y`)).toEqual([word])
})

it.each([
  ['category=nothing'],
  ['category=00000000-0000-4000-8000-000000000000'],
  ['tag=nothing'],
  ['tag=00000000-0000-4000-8000-000000000000'],
  ['sku=nothing'],
  ['query=nothing'],
])('what %s names is not there: an empty page, no refusal (OP-92)', async (query) => {
  expect(await list(caller, query)).toMatchObject({ total: 0, total_pages: 0, has_next_page: false, items: [] })
})

it("never shows another workspace's products, nor finds any by its categories and tags", async () => {
  const other = aCaller()
  await create(other, { name: 'Blue Plate', category: { name: 'Plates' }, tags: ['Plates'], sku: 'PLATE' })
  const [plate] = (await list(other)).items
  for (const query of [
    `category=${plate?.categories[0]?.id}`,
    'category=plates',
    'tag=plates',
    'sku=PLATE',
    'query=plate',
  ]) {
    expect(await names(other, query), query).toEqual(['Blue Plate'])
    expect((await list(caller, query)).total, query).toBe(0)
  }
  expect((await list(caller)).total).toBe(3)
  expect(await list(aCaller())).toMatchObject({ total: 0, items: [] })
})

it.each([
  ['page=0', 'page: '],
  ['limit=101', 'limit: '],
  ['size=0', 'size: '],
  ['limit=1&limit=2', 'limit: '],
  ['status=active', 'status: '],
  ['status=ACTIVE&status=HIDDEN', 'status: '],
  ['type=SIMPLE', 'type: '],
  ['category=', 'category: '],
  ['tag=', 'tag: '],
  [`tag=${'a'.repeat(256)}`, 'tag: '],
  ['sku=', 'sku: '],
  ['sku=%00', 'sku'],
  ['query=', 'query: '],
  ['query=%20-%20', 'query: must hold a letter or a digit'],
  ['query=%CD%BA', 'query: must hold a letter or a digit'],
  ['query=a+b+c+d+e+f+g+h+i+j+k', 'query: must have at most 10 words'],
  [`query=${'a'.repeat(256)}`, 'query: '],
  ['updated_since=yesterday', 'updated_since: '],
  ['updated_since=2026-02-03', 'updated_since: '],
  ['updated_since=0001-01-01T00:00:00Z', 'updated_since: '],
  ['sort_by=price', 'sort_by: '],
  ['sort_by=', 'sort_by: '],
  ['sort_order=up', 'sort_order: '],
  ['sort_order=DESC', 'sort_order: '],
  ['name=Cup', 'name: unknown parameter'],
  ['Status=ACTIVE', 'Status: unknown parameter'],
])('refuses %s with bad_request (OP-03, OP-27)', async (query, message) => {
  const { status, body } = await send(caller, 'GET', `/v1/products?${query}`)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toContain(message)
})

it('needs the scope product::read', async () => {
  const { status } = await send(aCaller({ scopes: ['product::create'] }), 'GET', '/v1/products')
  expect(status).toBe(403)
})

it.each([
  ['', 3],
  ['sort_by=name&status=ACTIVE&limit=100', 3],
  ['query=blue+card&tag=gifts&category=kitchen', 3],
  ['query=blue&tag=new-arrivals&status=ACTIVE&type=VIRTUAL_PRODUCT&sort_by=name', 4],
])('sends a constant number of statements for %s', async (query, count) => {
  takeStatements()
  await list(caller, query)
  // Beside the transaction's begin, its workspace and its commit.
  expect(takeStatements().length - 3).toBeLessThanOrEqual(count)
})
