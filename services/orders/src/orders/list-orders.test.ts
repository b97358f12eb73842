import { FULFILLMENT_STATUSES, ORDER_STATUSES, PAYMENT_STATUSES } from '@backoffice/contracts/order.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderLists, SEED_START } from './testing/order-lists.ts'

const COUNT = 230
const EVERY_S = 20 * 60
const { admin, list, merge, seed, send, takeStatements, wrongCounts } = await orderLists()

const caller = aCaller()
await seed(aCaller(), 40, EVERY_S)
await seed(caller, COUNT / 2, EVERY_S)
await merge()
// Not merged: lists have both kinds of counts.
await admin`
  update sales_order set payment_status = 'REFUNDED', updated_at = updated_at + interval '2 hours'
  where workspace_id = ${caller.workspaceId} and order_number like '%7'`

// Every third order has two more lines, of one SKU.
await admin`
  insert into order_item (workspace_id, order_id, position, id, variant_id, title, sku, quantity, unit_price, total_price)
  select workspace_id, id, line, uuidv7(), uuidv7(), 'Gift card', 'GIFT', 1, 0, 0
  from sales_order, generate_series(1, 2) as line
  where workspace_id = ${caller.workspaceId} and substr(order_number, 2)::int % 3 = 2`

interface Row {
  id: string
  order_number: string
  status: string
  payment_status: string
  fulfillment_status: string
  customer: string | null
  email: string | null
  skus: string[]
  sales_channel: string | null
  created_at: Date
  updated_at: Date
}
const rows: Row[] = [
  ...(await admin<Row[]>`
    select
      id, order_number, status, payment_status, fulfillment_status, customer_id as customer, sales_channel, created_at, updated_at,
      (select email from customer where customer.workspace_id = sales_order.workspace_id and customer.id = customer_id) as email,
      array(select sku from order_item where order_item.workspace_id = sales_order.workspace_id and order_id = sales_order.id) as skus
    from sales_order where workspace_id = ${caller.workspaceId}`),
]

/** What a list should have, by a way of the test's own. */
function expected(query: Readonly<Record<string, string>>) {
  const { since, until, updated_since, after, page: _, limit: __, sort_by = 'createdAt', ...others } = query
  const { sort_order = 'desc', query: searched, sku, ...equal } = others
  const wordsOf = (text: string) => text.toLowerCase().split(/[^a-z0-9]+/)
  const isSearched = ({ order_number, email }: Row, query: string) =>
    order_number === query.toUpperCase() ||
    (email !== null &&
      wordsOf(query).every((word) => wordsOf(`Ada Byron ${email}`).some((other) => other.startsWith(word))))
  const time = (row: Row) => (sort_by.startsWith('updated') ? row.updated_at : row.created_at).getTime()
  const byTime = (a: Row, b: Row) => (time(a) - time(b) || (a.id < b.id ? -1 : 1)) * (sort_order === 'asc' ? 1 : -1)
  const last = rows.find(({ id }) => id === after)
  const found = rows
    .filter((row) => searched === undefined || isSearched(row, searched))
    .filter(({ skus }) => sku === undefined || skus.includes(sku))
    .filter((row) => Object.entries(equal).every(([member, value]) => row[member as keyof Row] === value))
    .filter(({ created_at }) => since === undefined || created_at >= new Date(since))
    .filter(({ created_at }) => until === undefined || created_at < new Date(until))
    .filter(
      ({ updated_at }) => updated_since === undefined || updated_at.getTime() >= Date.parse(updated_since) - 60_000,
    )
    .toSorted(byTime)
  return {
    total: found.length,
    ids: found.filter((row) => last === undefined || (row !== last && byTime(row, last) > 0)).map(({ id }) => id),
  }
}

const found = async (query: Readonly<Record<string, string>>) => {
  const { total, items } = await list(caller, new URLSearchParams(query).toString())
  return { total, ids: items.map(({ id }) => id) }
}

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 1 })
const time = fc.oneof(
  fc.constantFrom(...rows.map(({ created_at }) => created_at)),
  fc.date({ min: SEED_START, max: new Date(SEED_START.getTime() + (COUNT / 2) * EVERY_S * 1000), noInvalidDate: true }),
  fc.constantFrom(new Date('2026-02-01T11:00:00Z'), new Date('2026-02-02T00:00:00Z')),
)
const queries = fc.record({
  status: optional(fc.constantFrom(...ORDER_STATUSES)),
  payment_status: optional(fc.constantFrom(...PAYMENT_STATUSES)),
  fulfillment_status: optional(fc.constantFrom(...FULFILLMENT_STATUSES)),
  sales_channel: optional(fc.constantFrom('web', 'market')),
  customer: fc.option(fc.constantFrom(...rows.flatMap(({ customer }) => customer ?? [])), { nil: undefined, freq: 5 }),
  order_number: fc.option(fc.constantFrom(...rows.map(({ order_number }) => order_number)), {
    nil: undefined,
    freq: 9,
  }),
  email: fc.option(fc.constantFrom('ada-0@example.com', 'ada-1@example.com'), { nil: undefined, freq: 9 }),
  sku: fc.option(fc.constantFrom('GIFT', ...rows.flatMap(({ skus }) => skus)), { nil: undefined, freq: 4 }),
  query: fc.option(
    fc.constantFrom('ada-1', 'byron ada', 'n7', 'bob', ...rows.map(({ order_number }) => order_number)),
    {
      nil: undefined,
      freq: 4,
    },
  ),
  since: optional(time.map((at) => at.toISOString())),
  until: optional(time.map((at) => at.toISOString())),
  updated_since: fc.option(
    time.map((at) => at.toISOString()),
    { nil: undefined, freq: 2 },
  ),
  after: fc.option(fc.constantFrom(...rows.map(({ id }) => id)), { nil: undefined, freq: 2 }),
  sort_by: optional(fc.constantFrom('createdAt', 'updatedAt', 'created_at', 'updated_at')),
  sort_order: optional(fc.constantFrom('asc', 'desc')),
  page: fc.constantFrom('1', '1', '2', '3', '7'),
  limit: fc.constantFrom('1', '3', '20', '100'),
})

describe('GET /v1/orders', () => {
  it('answers a page object of order bodies, newest first (OP-03, OP-43)', async () => {
    const { items, ...page } = await list(caller, 'limit=2')
    expect(page).toEqual({
      page: 1,
      size: 2,
      total: COUNT / 2,
      total_pages: Math.ceil(COUNT / 4),
      has_next_page: true,
      has_previous_page: false,
    })
    expect(items.map(({ order_number }) => order_number)).toEqual([`N${COUNT / 2 - 1}`, `N${COUNT / 2 - 2}`])
    expect(items[0]).toMatchObject({
      currency: 'EUR',
      items: [{ title: 'Shirt', sku: `SHIRT-${COUNT / 2 - 1}`, quantity: 1, unit_price: 100, total_price: 100 }],
    })
    expect(items[0]).toMatchObject({ customer: { name: 'Ada Byron' } })
  })

  it('any combination of filters, sort and page has the orders that meet all, and their total (OP-140)', async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (drawn) => {
        const query = Object.fromEntries(
          Object.entries(drawn).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        )
        const { total, ids } = expected(query)
        const first = drawn.after === undefined ? (Number(drawn.page) - 1) * Number(drawn.limit) : 0
        expect(await found(query)).toEqual({ total, ids: ids.slice(first, first + Number(drawn.limit)) })
      }),
      { seed: 20_260_301, numRuns: 400 },
    )
  })

  it.each([
    { status: 'CANCELLED' },
    { payment_status: 'PAID' },
    { fulfillment_status: 'PARTIALLY_FULFILLED' },
    { sales_channel: 'web' },
    { sales_channel: 'market' },
    { customer: rows.find(({ customer }) => customer !== null)?.customer ?? '' },
    { order_number: 'N7' },
    { email: 'ada-0@example.com' },
    { sku: 'GIFT' },
    { query: 'byron a' },
    { sku: 'GIFT', query: 'ADA', status: 'CART' },
    { since: '2026-02-02T00:00:00Z' },
    { until: '2026-02-01T23:30:00+01:00' },
    { since: '2026-02-01T11:30:00Z', until: '2026-02-01T12:30:00Z' },
    { status: 'CART', payment_status: 'UNPAID', since: '2026-02-01T12:10:00Z' },
  ])('pages of the filter %j follow each other without overlap or gap, by each sort (OP-140)', async (filter) => {
    expect(expected(filter).total).toBeGreaterThan(0)
    for (const sort_by of ['createdAt', 'updatedAt'])
      for (const sort_order of ['asc', 'desc']) {
        const query = { ...filter, sort_by, sort_order, limit: '9' }
        const all = expected(query).ids
        const pages = Array.from({ length: Math.ceil(all.length / 9) }, (_, index) =>
          found({ ...query, page: `${index + 1}` }),
        )
        expect((await Promise.all(pages)).flatMap(({ ids }) => ids)).toEqual(all)
      }
  })

  it('an order number is found in lower case too, and a customer by an id in upper case (OP-140)', async () => {
    expect((await found({ order_number: 'n7' })).ids).toEqual(expected({ order_number: 'N7' }).ids)
    const [customer = ''] = rows.flatMap((row) => row.customer ?? [])
    expect((await found({ customer: customer.toUpperCase() })).total).toBe(expected({ customer }).total)
  })

  it('the end of the time is not within it, its beginning is; a time that ends before it begins is empty (OP-140)', async () => {
    const [at = ''] = rows.map(({ created_at }) => created_at.toISOString())
    expect(await found({ until: at })).toEqual({ total: 0, ids: [] })
    expect((await found({ since: at })).total).toBe(COUNT / 2)
    expect(await found({ since: '2026-02-02T12:00:00Z', until: '2026-02-01T12:00:00Z' })).toEqual({ total: 0, ids: [] })
  })

  it.each([
    ['status=SENT', 'status'],
    ['status=cart', 'status'],
    ['status=', 'status'],
    ['payment_status=OPEN', 'payment_status'],
    ['fulfillment_status=SENT', 'fulfillment_status'],
    ['customer=1', 'customer'],
    ['email=ada', 'email'],
    ['sku=', 'sku'],
    ['query=', 'query'],
    ['query=-', 'query'],
    ['query=a+b+c+d+e+f+g+h+i+j+k', 'query'],
    ['sales_channel=', 'sales_channel'],
    ['order_number=', 'order_number'],
    ['since=yesterday', 'since'],
    ['until=2026-02-01', 'until'],
    ['updated_since=2026-02-01', 'updated_since'],
    ['after=1', 'after'],
    ['page=0', 'page'],
    ['limit=101', 'limit'],
    ['size=x', 'size'],
    ['sort_by=name', 'sort_by'],
    ['sort_order=up', 'sort_order'],
    ['state=CART', 'state'],
    ['status=CART&status=PLACED', 'status'],
  ])('%s is bad_request naming the parameter (OP-09, OP-27)', async (query, parameter) => {
    const { status, body } = await send(caller, 'GET', `/v1/orders?${query}`)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'bad_request' })
    expect(body.error.message).toContain(parameter)
  })

  it('a page beyond the last has no items, and the total (OP-03)', async () => {
    expect(await list(caller, 'page=1000&limit=100')).toMatchObject({
      total: COUNT / 2,
      items: [],
      has_next_page: false,
    })
    expect(await list(caller, 'page=1000000000&sort_by=updatedAt')).toMatchObject({ total: COUNT / 2, items: [] })
    expect(await list(caller, 'customer=00000000-0000-4000-8000-000000000000')).toMatchObject({ total: 0, items: [] })
  })

  it('an e-mail address is found in any case; a SKU is found as it was when it was ordered (OP-219)', async () => {
    expect((await found({ email: 'ADA-0@Example.com' })).total).toBe(expected({ email: 'ada-0@example.com' }).total)
    expect([(await found({ sku: 'gift' })).total, (await found({ sku: 'GIF' })).total]).toEqual([0, 0])
  })

  it('another workspace sees none of the orders, and no total of them, whatever the filter', async () => {
    const [{ customer = '' } = {}] = rows.filter((row) => row.customer !== null)
    for (const query of [
      '',
      'status=CART',
      'sales_channel=web',
      'order_number=N7',
      `customer=${customer}`,
      'email=ada-0@example.com',
      'sku=GIFT',
      'query=ada',
      'query=N7',
      'sort_by=updatedAt',
    ]) {
      expect(await list(aCaller(), query)).toMatchObject({ total: 0, items: [] })
    }
  })

  it('a key without sale::read is refused', async () => {
    expect((await send(aCaller({ scopes: ['product'] }), 'GET', '/v1/orders')).status).toBe(403)
  })

  it.each([
    ['', 2],
    ['&status=CART', 2],
    ['&since=2026-02-01T12:10:00Z', 2],
    ['&order_number=N7', 2],
    ['&email=ada-0@example.com', 2],
    ['&sku=GIFT', 2],
    ['&query=ada', 3],
    ['&sort_by=updatedAt&since=2026-02-01T12:10:00Z', 3],
  ])('the list %s sends %d statements, whatever the size of the page', async (filter, statements) => {
    for (const size of [1, 100]) {
      takeStatements()
      await list(caller, `limit=${size}${filter}`)
      // With begin, set_config and commit.
      expect(takeStatements()).toHaveLength(statements + 3)
    }
  })

  it('the counts of both kinds add up to the orders there are', async () => {
    expect([...(await wrongCounts())]).toEqual([])
  })
})
