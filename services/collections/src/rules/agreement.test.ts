import { testDatabase } from '@backoffice/testing/database.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileRules } from './compile.ts'
import { ruleProductOf } from './rule-product.ts'
import { readRules } from './rules.ts'
import { FIELDS, PIECES, productState, rules } from './testing/rule-arbitraries.ts'

const SEED = 20_260_301
const PRODUCTS = 250
const RULES = 1000
const WORKSPACE = '00000000-0000-4000-8000-000000000001'

const { admin } = await testDatabase('collections')

const idOf = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`

const products = fc
  .sample(productState, { seed: SEED, numRuns: PRODUCTS })
  .map((state, index) => ({ id: idOf(index), ruleFields: ruleProductOf(state) }))

const rows = products.map(({ id, ruleFields }) => ({
  workspace_id: WORKSPACE,
  id,
  version: 1,
  ...ruleFields,
  body: {},
}))
const columns = admin.unsafe(Object.keys(rows[0] ?? {}).join(', '))
await admin`
  insert into product (${columns}) select ${columns} from jsonb_populate_recordset(null::product, ${admin.json(rows)})`

test('the projection stores exactly the rule fields of a product', async () => {
  const stored = await admin`
    select name, skus, type, status, categories, tags, prices, costs, stock::float8, requires_shipping, can_preorder,
      created_at
    from product order by id`
  expect(stored.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))).toEqual(
    products.map(({ ruleFields }) => ruleFields),
  )
})

test(`rules gather the same products in memory and in the database (seed ${SEED})`, async () => {
  const outcomes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(rules, async (sent) => {
      const compiled = await compileRules(readRules(sent))
      const [answer] = await admin`select json_agg(not ${compiled.toSql(admin)} order by id) as fails from product`
      expect(answer?.fails).toEqual(products.map(({ ruleFields }) => !compiled.matches(ruleFields)))
      for (const condition of sent.conditions) {
        const { matches } = await compileRules(readRules({ match: 'all', conditions: [condition] }))
        for (const { ruleFields } of products)
          outcomes.add(`${condition.field} ${condition.operator} ${matches(ruleFields)}`)
      }
    }),
    { seed: SEED, numRuns: RULES },
  )

  const never = FIELDS.flatMap(([field, operators]) =>
    operators.flatMap((operator) => [true, false].map((holds) => `${field} ${operator} ${holds}`)),
  ).filter((outcome) => !outcomes.has(outcome))
  // is_set holds for every product on fields that all products have.
  expect(never.sort()).toEqual(
    ['created_at', 'name', 'stock'].flatMap((field) => [`${field} is_not_set true`, `${field} is_set false`]),
  )
})

test.each(PIECES)('%j means the same to every operator on texts, in memory and in the database', async (piece) => {
  const conditions = FIELDS.filter(([, operators]) => operators.includes('contains')).flatMap(([field, operators]) =>
    operators
      .filter((operator) => !operator.startsWith('is_'))
      .map((operator) => ({ field, operator, value: operator.endsWith('in') ? [piece] : piece })),
  )
  const compiled = await Promise.all(
    conditions.map((condition) => compileRules(readRules({ match: 'all', conditions: [condition] }))),
  )
  const holds = compiled.map(({ toSql }) => toSql(admin)).reduce((all, one) => admin`${all}, ${one}`)
  const [answer] = await admin`select json_agg(json_build_array(${holds}) order by id) as holds from product`
  expect(answer?.holds).toEqual(products.map(({ ruleFields }) => compiled.map(({ matches }) => matches(ruleFields))))
})

test.each(FIELDS.filter(([, operators]) => operators.includes('in')))(
  'a long list of %s is hashed, not gone through for each product',
  async (field, _, value) => {
    const list = fc.sample(value, { seed: SEED, numRuns: 100 })
    const { toSql } = await compileRules(
      readRules({ match: 'all', conditions: [{ field, operator: 'in', value: list }] }),
    )
    const plan = await admin`explain select from product where ${toSql(admin)}`
    const lines = plan.map((line) => line['QUERY PLAN']).join('\n')
    expect(lines).toContain('hashed SubPlan')
    expect(lines).not.toContain('Join')
  },
)
