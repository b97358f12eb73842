import { openDatabase } from '@backoffice/postgres/database.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { indexesOf, planOf, plansOf, readWhole, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { afterAll, expect, it } from 'vitest'
import { listProducts } from './list-products.ts'
import { listApi } from './testing/product-lists.ts'

const { admin, appUrl, seed } = await listApi()
const caller = aCaller()
await seed(caller, 30_000)
await seed(aCaller(), 1000)
// What is small, or of few categories and tags, is rightly read whole.
await admin`
  with other as (
    insert into category (workspace_id, id, name, slug, created_at, updated_at)
    select ${caller.workspaceId}, gen_random_uuid(), 'Other ' || n, 'other-' || n, now(), now() from generate_series(0, 19) as n
    returning *
  )
  insert into product_category (workspace_id, product_id, category_id, position)
  select workspace_id, numbered.id, other.id, 2
  from other join (select id, row_number() over () % 20 as n from product where workspace_id = ${caller.workspaceId} limit 12000)
    as numbered on slug = 'other-' || n`
await admin`
  with other as (
    insert into tag (workspace_id, id, name, slug)
    select ${caller.workspaceId}, gen_random_uuid(), 'Other ' || n, 'other-' || n from generate_series(0, 19) as n
    returning *
  )
  insert into product_tag (workspace_id, product_id, tag_id, position)
  select workspace_id, numbered.id, other.id, 2
  from other join (select id, row_number() over () % 20 as n from product where workspace_id = ${caller.workspaceId} limit 12000)
    as numbered on slug = 'other-' || n`
await admin`
  insert into product_count (workspace_id, status, type, change)
  select gen_random_uuid(), 'ACTIVE', 'SIMPLE_PRODUCT', 1 from generate_series(1, 20000)`
await admin`vacuum analyze`
const [{ id: last = '' } = {}] = await admin<{ id: string }[]>`
  select id from product where workspace_id = ${caller.workspaceId} order by id offset 15000 limit 1`

let sent: SentStatement[] = []
const db = openDatabase({
  url: appUrl,
  applicationName: 'test',
  settings: REQUEST_SETTINGS,
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
afterAll(async () => db.stop?.())
const send = serviceClient(db, [listProducts])

const GROWING = ['product', 'variant', 'product_category', 'product_tag', 'product_word', 'product_count']

/** The plans of what a list sends, but for begin, set_config and commit. */
async function plansOfList(query: string) {
  sent = []
  const { status } = await send(caller, 'GET', `/v1/products?${query}`)
  expect(status).toBe(200)
  return plansOf(db, caller, sent.slice(2, -1))
}

it.each([
  ['', ['product_count_pkey', 'product_pkey']],
  ['page=750', ['product_count_pkey', 'product_pkey']],
  ['page=1500', ['product_count_pkey', 'product_pkey']],
  ['sort_by=name', ['product_count_pkey', 'product_by_name']],
  ['sort_by=name&sort_order=asc&page=1500', ['product_count_pkey', 'product_by_name']],
  ['sort_by=updatedAt', ['product_count_pkey', 'product_by_update']],
  ['status=ACTIVE', ['product_count_pkey', 'product_by_status']],
  ['type=SIMPLE_PRODUCT&sort_order=asc', ['product_count_pkey', 'product_by_status']],
  ['status=HIDDEN&type=SIMPLE_PRODUCT&page=50', ['product_count_pkey', 'product_by_status']],
  ['status=HIDDEN&sort_by=name', ['product_count_pkey', 'product_by_name', 'product_by_status', 'product_pkey']],
  ['category=tenth', ['product_category_members']],
  ['category=tenth&page=120', ['product_category_members']],
  ['tag=tenth', ['product_tag_members']],
  ['sku=item-74', ['product_pkey', 'variant_combination', 'variant_sku']],
  ['query=kind3', ['product_pkey', 'product_word_pkey']],
  ['query=kind3&sort_by=name', ['product_by_name', 'product_pkey', 'product_word_pkey']],
  [`after=${last}`, ['product_count_pkey', 'product_pkey']],
  [`after=${last}&sort_by=name`, ['product_by_name', 'product_count_pkey', 'product_pkey']],
  [`after=${last}&sort_by=updatedAt&sort_order=asc`, ['product_by_update', 'product_count_pkey', 'product_pkey']],
  [`after=${last}&status=ACTIVE`, ['product_by_status', 'product_count_pkey', 'product_pkey']],
  [`after=${last}&category=tenth`, ['product_category_members', 'product_pkey']],
  [`after=${last}&query=kind3&sort_by=name`, ['product_by_name', 'product_pkey', 'product_word_pkey']],
  ['updated_since=2026-01-02T00:00:00Z', ['product_by_update', 'product_count_pkey', 'product_pkey']],
  ['updated_since=2026-01-02T00:00:00Z&sort_by=updatedAt', ['product_by_update', 'product_count_pkey']],
])('the list %s is counted and paged through %j with 30,000 products', async (query, indexes) => {
  for (const [kind, plans] of Object.entries(await plansOfList(query))) {
    expect(readWhole(plans.flat(), GROWING), kind).toEqual([])
    // The last statement reads the products of the page.
    const used = indexesOf(plans.slice(0, -1).flat()).filter((index) => !/^(category|tag)_/.test(index))
    expect(used.toSorted(), kind).toEqual(indexes.toSorted())
  }
})

it.each(['', '&sort_by=name', '&sort_by=updatedAt', '&status=ACTIVE', '&category=tenth'])(
  'a page behind an item in the middle reads few products: after=…%s (OP-03)',
  async (query) => {
    sent = []
    await send(caller, 'GET', `/v1/products?after=${last}${query}`)
    const page = sent.find(({ text }) => text.includes('counted as')) ?? expect.fail('no page was read')
    const plan = await db.inWorkspace({ ...caller, traceparent: '' }, (tx) => planOf(tx, page, 'analyze'))
    // Those that do not match are passed.
    expect(Math.max(...plan.map((node) => node['Actual Rows'] ?? 0))).toBeLessThan(500)
  },
)
