import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { PLAN_EACH_TIME, PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { planOf, rowsReadBy, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, it } from 'vitest'
import { projectionRowOf } from '../products/product-state.ts'
import { projector } from '../products/testing/projection.ts'
import { writeProducts } from '../products/write-products.ts'
import type { RuleProduct } from '../rules/rule-product.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { deleteFromRetiredVersion } from './membership-builder.ts'
import { ruleSets } from './rule-sets.ts'
import { updateMemberships } from './update-memberships.ts'

const [PRODUCTS, COLLECTIONS, CHANGED] = [4000, 30, 100]
const { admin, workerUrl, create } = await collectionsService()
const sent: SentStatement[] = []
const { sql, stop } = openDatabase({
  url: workerUrl,
  applicationName: 'plans',
  poolSize: 1,
  settings: PLAN_EACH_TIME,
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
  // The statistics do not include the versions created after this.
  await createSmart(0)
  await admin`vacuum analyze`
  await admin`alter table collection_member set (autovacuum_enabled = false)`
  for (let n = 1; n < COLLECTIONS; n++) await createSmart(n)
})

/** Records the statements of `work`, rolls it back, and explains them. Returns the most rows that one has read. */
async function mostRows(work: (sql: Sql) => Promise<unknown>): Promise<number> {
  const undone = new Error('undone')
  sent.length = 0
  await sql
    .begin(async (tx) => {
      const begin = (inner: (sql: typeof tx) => unknown) => inner(tx)
      await work(Object.assign(tx, { begin, options: sql.options }) as unknown as Sql)
      throw undone
    })
    .catch((error) => expect(error).toBe(undone))
  // Without the query for types that the driver sends first.
  const statements = sent.filter(
    ({ text }) => /^\s*(with|select|insert|update|delete)/.test(text) && !text.includes('pg_type'),
  )
  const rows: number[] = []
  await sql
    .begin(async (tx) => {
      for (const statement of statements) rows.push(rowsReadBy(await planOf(tx, statement, 'analyze')))
      throw undone
    })
    .catch((error) => expect(error).toBe(undone))
  expect(rows).not.toEqual([])
  return Math.max(...rows)
}

/** Changes products so that their members are removed, added and updated in many collections. */
async function changedProducts() {
  const rows = await admin<{ id: string; stock: number }[]>`
    select id, stock::integer as stock from product order by stock desc limit ${CHANGED}`
  const ids = rows.map(({ id }) => id)
  await admin`update product set stock = 4000 - stock % 300 where id = any(${ids}::uuid[])`
  return rows.map(({ id, stock }) => {
    const ruleFields = { stock: 4000 - (stock % 300) } as RuleProduct
    return { workspaceId, id, ruleFields }
  })
}

it('deleting a chunk of a RETIRED version reads no other version', async () => {
  await admin`update membership_version set state = 'RETIRED' where collection_id = (select max(collection_id::text)::uuid from membership_version)`
  expect(await mostRows((tx) => deleteFromRetiredVersion(tx, 500))).toBeLessThan(5000)
})

it('writing the states of some products reads no others', async () => {
  const rows = Array.from({ length: 3 }, () => projectionRowOf({ workspace_id: workspaceId, data: aProductState() }))
  expect(await mostRows((tx) => writeProducts(tx, rows, tx`known.version >= state.version`))).toBeLessThan(50)
})

it.each([
  ['has no statistics of most versions', 'select 1'],
  ['has them', 'analyze collection_member'],
])('updating memberships reads only those of the changed products, whether PostgreSQL %s', async (_, first) => {
  await admin.unsafe(first)
  const products = await changedProducts()
  expect(await mostRows((tx) => updateMemberships(tx, ruleSets(), products))).toBeLessThan(CHANGED * COLLECTIONS * 25)
})

/** The rows and entries of indexes that were read since the start of the test file. */
async function rowsRead() {
  const [row] = await admin<[{ scanned: number; entries: number }]>`
    select
      (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = 'collections')::integer as scanned,
      (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = 'collections')::integer as entries`
  return row
}

it('a consumer that plans each statement once reads only what belongs to the products of a batch', async () => {
  const BATCHES = 40
  const observed = async () => {
    const applicationName = 'consumer'
    const consumer = openDatabase({ url: workerUrl, applicationName, poolSize: 1, settings: PLAN_ONCE_BY_KEYS })
    const project = projector(consumer.sql)
    await admin`analyze`
    const before = await rowsRead()
    for (let n = 0; n < BATCHES; n++) {
      const product = aProductState({ total_stock: PRODUCTS - n * 2 })
      await project([{ workspaceId, product }])
      await project([{ workspaceId, product: { ...product, version: 2, total_stock: PRODUCTS - 100, name: `${n}` } }])
      await project([{ workspaceId, product: product.id }])
    }
    const planned = await consumer.sql`select statement from pg_prepared_statements where custom_plans > 0`
    await consumer.stop?.()
    await eventually('the connection has ended', async () => {
      const open = await admin`
        select from pg_stat_activity where datname = current_database() and application_name = ${applicationName}`
      return open.length === 0
    })
    const after = await rowsRead()
    return { planned, scanned: after.scanned - before.scanned, entries: after.entries - before.entries }
  }
  let { planned, scanned, entries } = await observed()
  // PostgreSQL may count what earlier tests have read up to ten seconds late. What this test reads shows in each
  // observation.
  const mayBeLate = () => scanned > 0 || entries / BATCHES >= COLLECTIONS * 25
  for (let again = 0; again < 2 && mayBeLate(); again++) ({ planned, scanned, entries } = await observed())
  expect(planned).toEqual([])
  expect(scanned).toBe(0)
  expect(entries / BATCHES).toBeLessThan(COLLECTIONS * 25)
})
