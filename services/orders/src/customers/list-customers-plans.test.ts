import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { indexesOf, plansOf, readWhole, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { afterAll, expect, it } from 'vitest'
import { listCustomers } from './list-customers.ts'
import { type CustomerPage, customersApi } from './testing/customers-api.ts'

const CUSTOMERS = 50_000
const { admin, appUrl, seed } = await customersApi()
const caller = aCaller()
await seed(caller, CUSTOMERS)
await seed(aCaller(), 1000)
// As the worker does.
await admin`select merge_customer_count(10000000)`
await admin`vacuum analyze`
const [{ id: last = '' } = {}] = await admin<{ id: string }[]>`
  select id from customer where workspace_id = ${caller.workspaceId} order by id offset ${CUSTOMERS / 2} limit 1`

let sent: SentStatement[] = []
const db = openDatabase({
  url: appUrl,
  applicationName: 'test',
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
afterAll(async () => db.stop?.())
const send = serviceClient(db, [listCustomers])

/** The plans of what a list sends, but for begin, set_config and commit. */
async function plansOfList(query: string) {
  sent = []
  const { status } = await send(caller, 'GET', `/v1/customers?${query}`)
  expect(status).toBe(200)
  return plansOf(db, caller, sent.slice(2, -1), 'analyze')
}

const COUNTS = ['customer_count_change', 'customer_count_sum']
const GROWING = ['customer', 'customer_word', 'customer_count']

it.each([
  ['', [...COUNTS, 'customer_pkey']],
  ['page=1250', [...COUNTS, 'customer_pkey']],
  ['page=2500', [...COUNTS, 'customer_pkey']],
  ['sort_by=name', [...COUNTS, 'customer_by_name']],
  ['sort_by=updatedAt&sort_order=asc&page=2500', [...COUNTS, 'customer_by_update']],
  ['email=User.7@mail2.example.com', ['customer_email', 'customer_pkey']],
  ['query=kind3', [...COUNTS, 'customer_pkey', 'customer_word_pkey']],
  ['query=com', [...COUNTS, 'customer_pkey', 'customer_word_pkey']],
  [`after=${last}`, [...COUNTS, 'customer_pkey']],
  [`after=${last}&sort_by=name`, [...COUNTS, 'customer_by_name', 'customer_pkey']],
  [`after=${last}&sort_by=updatedAt`, [...COUNTS, 'customer_by_update', 'customer_pkey']],
  ['updated_since=2026-01-01T08:00:00Z', [...COUNTS, 'customer_by_update', 'customer_pkey']],
  ['updated_since=2026-01-01T08:00:00Z&sort_by=updatedAt', [...COUNTS, 'customer_by_update']],
  ['query=com&sort_by=name', [...COUNTS, 'customer_by_name', 'customer_pkey', 'customer_word_pkey']],
])('the list %s is counted and paged through %j with many customers', async (query, indexes) => {
  for (const [kind, plans] of Object.entries(await plansOfList(query))) {
    expect(readWhole(plans.flat(), GROWING), kind).toEqual([])
    // The last statement reads the customers of the page.
    expect(indexesOf(plans.slice(0, -1).flat()).toSorted(), kind).toEqual(indexes.toSorted())
  }
})

it.each([
  '',
  'page=2500',
  'sort_by=name',
  'sort_by=updatedAt&page=2499',
  'email=user.7@mail2.example.com',
  'query=com',
  'query=u',
  'query=user&sort_by=name',
  'query=kind3',
  'query=user.4711',
  'query=4711',
  `after=${last}`,
  `after=${last}&sort_by=name`,
  `after=${last}&sort_by=updatedAt&sort_order=asc`,
  `after=${last}&query=com`,
  `after=${last}&query=com&sort_by=name`,
])('the first and the last pages of ?%s read few rows, whatever the number of customers', async (query) => {
  const { custom } = await plansOfList(query)
  const rows = custom.flat().map((node) => node['Actual Rows'] ?? 0)
  expect(Math.max(...rows)).toBeLessThan(CUSTOMERS / 20)
})

it('words that many customers have are counted and paged exactly', async () => {
  for (const [query, total, first] of [
    ['user%20com', CUSTOMERS, CUSTOMERS],
    ['mail3%20user%20com&page=2', CUSTOMERS / 5, CUSTOMERS - 102],
    ['mail3%20kind3&sort_order=asc', CUSTOMERS / 10, 3],
    ['mail3%20kind4', 0, undefined],
  ]) {
    const { body } = await send<CustomerPage>(caller, 'GET', `/v1/customers?query=${query}`)
    const email = first && `user.${first}@mail${Number(first) % 5}.example.com`
    expect([body.total, body.items[0]?.email], `${query}`).toEqual([total, email])
  }
})
