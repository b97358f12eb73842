import { openDatabase } from '@backoffice/postgres/database.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { indexesOf, plansOf, readWhole, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { listOrders } from './list-orders.ts'
import { type OrderList, orderLists } from './testing/order-lists.ts'

const { admin, appUrl, list, merge, seed } = await orderLists()
const caller = aCaller()
const ORDERS = 100_000
const EVERY_S = 60
const SINCE = '2026-02-01T12:30:00Z'
const RECENT = '2026-04-10T12:30:00Z'
await seed(aCaller(), 1000, EVERY_S)
await seed(caller, ORDERS, EVERY_S)
// All orders have one SKU, and the older half another.
await admin`
  insert into order_item (workspace_id, order_id, position, id, variant_id, title, sku, quantity, unit_price, total_price)
  select workspace_id, id, line, uuidv7(), uuidv7(), 'Gift', case line when 1 then 'ALL' else 'OLD' end, 1, 0, 0
  from sales_order, generate_series(1, 2) as line
  where workspace_id = ${caller.workspaceId} and (line = 1 or substr(order_number, 2)::int < ${ORDERS / 2})`
while ((await merge()) > 0);
await admin`vacuum analyze`
const [{ customer = '', last = '' } = {}] = await admin<{ customer: string; last: string }[]>`
  select customer_id as customer, id as last from sales_order where workspace_id = ${caller.workspaceId} and order_number = 'N5000'`

let sent: SentStatement[] = []
const db = openDatabase({
  url: appUrl,
  applicationName: 'test',
  transactionSettings: REQUEST_SETTINGS,
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
whenDone(() => db.stop?.())
const send = serviceClient(db, [listOrders])

const GROWING = ['sales_order', 'order_item', 'customer', 'order_count']

/** The plans of what a list sends, but for begin, set_config and commit. */
async function plansOfList(query: string) {
  sent = []
  expect((await send<OrderList>(caller, 'GET', `/v1/orders?${query}`)).status).toBe(200)
  return plansOf(db, caller, sent.slice(2, -1), 'analyze', 'buffers')
}

const BODIES = ['customer_pkey', 'order_item_pkey', 'sales_order_pkey']
const COUNTS = ['customer_count_change', 'customer_count_sum']
const WORDS = [...COUNTS, 'customer_word_pkey']
const COUNTED = [...BODIES, 'order_count_pkey']

it.each<[query: string, indexes: string[], most?: number]>([
  ['', COUNTED],
  ['page=2500', COUNTED],
  ['page=5000&sort_order=asc', COUNTED],
  ['status=COMPLETED&page=1000', COUNTED],
  ['status=CANCELLED&page=30', COUNTED],
  ['payment_status=PAID&fulfillment_status=FULFILLED&page=100', COUNTED],
  ['sales_channel=web', COUNTED],
  ['sales_channel=market&payment_status=PAID', COUNTED],
  [`since=${SINCE}&page=2500`, COUNTED],
  [`until=${SINCE}&status=PLACED`, COUNTED],
  [`since=2026-03-01T00:20:00Z&until=2026-03-01T05:10:00Z`, COUNTED],
  ['sort_by=updatedAt', [...COUNTED, 'sales_order_updated']],
  ['sort_by=updatedAt&status=CANCELLED&page=30', [...COUNTED, 'sales_order_updated']],
  [`sort_by=updatedAt&since=${SINCE}`, [...COUNTED, 'sales_order_updated']],
  [`after=${last}`, COUNTED],
  [`after=${last}&status=CANCELLED&sort_order=asc`, COUNTED],
  [`after=${last}&sort_by=updatedAt`, [...COUNTED, 'sales_order_updated']],
  [`after=${last}&sort_by=updatedAt&payment_status=PAID`, [...COUNTED, 'sales_order_updated']],
  [`after=${last}&since=${SINCE}`, COUNTED],
  [`updated_since=${RECENT}&sort_by=updatedAt`, [...COUNTED, 'sales_order_updated']],
  [`updated_since=${RECENT}`, [...COUNTED, 'sales_order_updated']],
  [`updated_since=${RECENT}&since=${SINCE}`, [...COUNTED, 'sales_order_updated']],
  [`updated_since=${RECENT}&since=${SINCE}&sort_by=updatedAt`, [...COUNTED, 'sales_order_updated']],
  [`customer=${customer}`, [...BODIES, 'sales_order_customer']],
  [`customer=${customer}&status=PLACED&sort_by=updatedAt`, [...BODIES, 'sales_order_customer']],
  ['order_number=N4711', [...BODIES, 'sales_order_number']],
  ['email=ada-7@example.com', [...BODIES, 'customer_email', 'sales_order_customer']],
  ['sku=SHIRT-4711', [...BODIES, 'order_item_sku']],
  ['sku=SHIRT-4712&query=ada', [...BODIES, ...COUNTS, 'order_item_sku']],
  ['sku=ALL', [...BODIES, 'order_item_sku']],
  ['sku=OLD', [...BODIES, 'order_item_sku']],
  ['sku=ALL&page=400', [...BODIES, 'order_item_sku']],
  [`sku=OLD&after=${last}`, [...BODIES, 'order_item_sku']],
  ['sku=ALL&sort_by=updatedAt', [...BODIES, 'order_item_sku', 'sales_order_updated']],
  ['sku=ALL&status=CANCELLED', [...COUNTED, 'order_item_sku']],
  ['sku=OLD&status=CANCELLED&page=10', [...COUNTED, 'order_item_sku'], 7000],
  ['query=N4711', [...BODIES, ...WORDS, 'sales_order_customer', 'sales_order_number']],
  ['query=ada-777', [...BODIES, ...WORDS, 'sales_order_customer', 'sales_order_number']],
  ['query=ada', [...BODIES, ...WORDS, 'sales_order_customer', 'sales_order_number']],
  ['query=ada&status=CANCELLED', [...COUNTED, ...WORDS, 'sales_order_customer', 'sales_order_number'], 10_000],
  [
    'query=byron&sort_by=updatedAt',
    [...BODIES, ...WORDS, 'sales_order_customer', 'sales_order_number', 'sales_order_updated'],
  ],
])('the list %s reads few blocks of %j with 100,000 orders (decision 010)', async (query, indexes, most = 1500) => {
  const plans = await plansOfList(query)
  for (const [kind, parts] of Object.entries(plans)) {
    expect(readWhole(parts.flat(), GROWING), kind).toEqual([])
    const used = new Set(indexesOf(parts.flat()))
    used.delete('order_change_workspace') // Its table may be empty, and read whole.
    expect([...used].toSorted(), kind).toEqual(indexes.toSorted())
  }
  const blocksOf = ([whole]: (typeof plans.custom)[number]) =>
    (whole?.['Shared Hit Blocks'] ?? 0) + (whole?.['Shared Read Blocks'] ?? 0)
  const blocks = plans.custom.reduce((sum, plan) => sum + blocksOf(plan), 0)
  // Orders, their lines and indexes have more than 6,000.
  expect(blocks).toBeLessThan(most)
})

const CREATED = `created_at >= '${SINCE}'`
const UPDATED = `updated_at >= timestamptz '${SINCE}' - interval '1 minute'`

it.each([
  ['updatedAt', `since=${SINCE}`, CREATED],
  ['createdAt', `updated_since=${SINCE}`, UPDATED],
  ['createdAt', `since=${SINCE}&updated_since=${SINCE}`, `${CREATED} and ${UPDATED}`],
  ['updatedAt', `since=${SINCE}&updated_since=${SINCE}`, `${CREATED} and ${UPDATED}`],
])(
  'a long list by %s with a filter on the other time has what is found and sorted: %s (OP-140)',
  async (sort, filter, conditions) => {
    const all = await admin<{ id: string }[]>`
    select id from sales_order where workspace_id = ${caller.workspaceId} and ${admin.unsafe(conditions)}
    order by ${sort === 'updatedAt' ? admin`updated_at, id` : admin`id`}`
    expect(all.length).toBeGreaterThan(50_000)
    const ids = all.map(({ id }) => id)
    for (const [place, from] of [
      ['page=1', 0],
      ['page=50', 980],
      [`after=${ids[2999]}`, 3000],
    ] as const) {
      const { items, total } = await list(caller, `sort_by=${sort}&sort_order=asc&${filter}&${place}`)
      expect(total).toBe(all.length)
      expect(items.map(({ id }) => id)).toEqual(ids.slice(from, from + 20))
    }
  },
)

it('of a search at most 10,000 orders are counted, and all are walked (OP-219)', async () => {
  expect(await list(caller, 'sku=ALL')).toMatchObject({ total: 10_000, total_pages: 500, has_next_page: true })
  expect(await list(caller, 'query=ada&page=500')).toMatchObject({ total: 10_000, has_next_page: false })
  expect((await list(caller, 'query=ada&status=CANCELLED')).total).toBe(ORDERS / 100)
  const old = await admin<{ id: string }[]>`
    select id from sales_order where workspace_id = ${caller.workspaceId} and substr(order_number, 2)::int < ${ORDERS / 2}
    order by id desc`
  for (const [query, from] of [
    ['page=1', 0],
    ['page=100', 9900],
    [`after=${old[19_999]?.id}`, 20_000],
  ] as const) {
    const { items } = await list(caller, `sku=OLD&limit=100&${query}`)
    expect(items.map(({ id }) => id)).toEqual(old.slice(from, from + 100).map(({ id }) => id))
    // By the time of their change: all are found and sorted.
    expect((await list(caller, `sku=OLD&limit=100&sort_by=updatedAt&sort_order=asc&${query}`)).items).toHaveLength(100)
  }
  expect(await list(caller, `sku=OLD&after=${old[49_980]?.id}`)).toMatchObject({ has_next_page: false })
})
