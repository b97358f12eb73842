import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, it } from 'vitest'
import type { RuleProduct } from '../rules/rule-product.ts'
import { collectionsService } from '../testing/collections-api.ts'
import { deleteFromRetiredVersion } from './delete-retired-versions.ts'
import { ruleSets } from './rule-sets.ts'
import { updateMemberships } from './update-memberships.ts'

const [PRODUCTS, COLLECTIONS, CHANGED] = [4000, 30, 100]
const { admin, workerUrl, create } = await collectionsService()
const sent: { text: string; parameters: unknown[] }[] = []
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

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Plan[]
}

/** The rows that a plan has read. */
const rowsOf = (plan: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0)) *
    plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), 0)

/** Records the statements of `work`, rolls it back, and explains them. Returns the most rows that one of them has read. */
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

it.each([
  ['has no statistics of most versions', 'select 1'],
  ['has them', 'analyze collection_member'],
])('updating memberships reads only those of the changed products, whether PostgreSQL %s', async (_, first) => {
  await admin.unsafe(first)
  const products = await changedProducts()
  expect(await mostRows((tx) => updateMemberships(tx, ruleSets(), products))).toBeLessThan(CHANGED * COLLECTIONS * 25)
})
