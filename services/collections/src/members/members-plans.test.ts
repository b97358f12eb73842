import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, it } from 'vitest'
import { collectionsService } from '../harness.ts'
import type { RuleProduct } from '../rules/rule-product.ts'
import { deleteSome } from './delete-members.ts'
import { ruleSets } from './rule-sets.ts'
import { settleProducts } from './settle-products.ts'

const [PRODUCTS, COLLECTIONS, CHANGED] = [4000, 30, 100]
const { admin, workerUrl, create } = await collectionsService()
const sent: { text: string; parameters: unknown[] }[] = []
const { sql, stop } = openDatabase({
  url: workerUrl,
  applicationName: 'plans',
  poolSize: 1,
  settings: { plan_cache_mode: 'force_custom_plan' },
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
whenDone(() => stop?.())

const caller = aCaller()
const { workspaceId } = caller

beforeAll(async () => {
  await admin`
    insert into product
    select ${workspaceId}, uuidv7(), 1, 'name ' || n, '', 'SIMPLE_PRODUCT', 'ACTIVE', '{}', '{}', '{}', '{}', n, true, false, now(), '{}'
    from generate_series(1, ${PRODUCTS}::integer) as n`
  const createSmart = (n: number) => {
    const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'lte', value: PRODUCTS - n * 5 }] }
    return create(caller, { name: `${n}`, membership_type: 'SMART', rules, sort_order: 'STOCK_DESC' })
  }
  // All others are younger than the statistics.
  await createSmart(0)
  await admin`vacuum analyze`
  await admin`alter table member set (autovacuum_enabled = false)`
  for (let n = 1; n < COLLECTIONS; n++) await createSmart(n)
})

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Plan[]
}

/** Rows that a plan has had in its hands. */
const rowsOf = (plan: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0)) *
    plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), 0)

/** Does something and undoes it, then does its statements once more to see how; returns the most rows that one of them took. */
async function mostRows(work: (sql: Sql) => Promise<unknown>): Promise<number> {
  const undone = new Error('undone')
  sent.length = 0
  await sql
    .begin(async (tx) => {
      await work(Object.assign(tx, { begin: (inner: (sql: typeof tx) => unknown) => inner(tx) }) as unknown as Sql)
      throw undone
    })
    .catch((error) => expect(error).toBe(undone))
  const statements = sent.filter(({ text }) => /^\s*(select|insert|update|delete)/.test(text))
  const rows: number[] = []
  await sql
    .begin(async (tx) => {
      for (const { text, parameters } of statements) {
        const [explained] = await tx.unsafe<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
          `explain (analyze, format json) ${text}`,
          parameters as never[],
        )
        rows.push(rowsOf(explained?.['QUERY PLAN'][0].Plan as Plan))
      }
      throw undone
    })
    .catch((error) => expect(error).toBe(undone))
  return Math.max(...rows)
}

/** Products that leave many of their collections, join some, and move in the others. */
async function changedProducts() {
  const rows = await admin<{ id: string; stock: number }[]>`
    select id, stock::integer as stock from product order by stock desc limit ${CHANGED}`
  const ids = rows.map(({ id }) => id)
  await admin`update product set stock = 4000 - stock % 300 where id = any(${ids}::uuid[])`
  return rows.map(({ id, stock }) => {
    const asked = { stock: 4000 - (stock % 300) } as RuleProduct
    return { workspaceId, id, asked }
  })
}

it('a chunk of what is over is deleted by way of itself', async () => {
  await admin`update generation set state = 'OLD' where collection_id = (select max(collection_id::text)::uuid from generation)`
  expect(await mostRows((tx) => deleteSome(tx, 500))).toBeLessThan(5000)
})

it.each([
  ['knows nothing of most generations', 'select 1'],
  ['knows them', 'analyze member'],
])('products are settled by way of their own memberships, whether PostgreSQL %s', async (_, first) => {
  await admin.unsafe(first)
  const products = await changedProducts()
  expect(await mostRows((tx) => settleProducts(tx, ruleSets(), products))).toBeLessThan(CHANGED * COLLECTIONS * 25)
})
