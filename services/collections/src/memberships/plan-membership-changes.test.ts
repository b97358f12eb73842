import { expect, it } from 'vitest'
import { compileRules } from '../rules/compile.ts'
import type { RuleProduct } from '../rules/rule-product.ts'
import { planMembershipChanges, type StoredMember } from './plan-membership-changes.ts'

const workspaceId = 'workspace'
const ruleFields = (stock: number): RuleProduct => ({
  name: 'shirt',
  skus: '',
  type: 'SIMPLE_PRODUCT',
  status: 'ACTIVE',
  categories: [],
  tags: [],
  prices: {},
  costs: {},
  stock,
  requires_shipping: true,
  can_preorder: false,
  created_at: '2026-01-01T00:00:00.000Z',
})
const product = (id: string, stock: number) => ({ workspaceId, id, ruleFields: ruleFields(stock) })
const [FEW, MANY, NEXT] = [1, 2, 3]
const fromStock = async (value: number, number: number) => ({
  number,
  rules: await compileRules({ match: 'all', conditions: [{ field: 'stock', operator: 'gte', value }] }),
})
const key = (productId: string, versionNumber: number) => ({ workspaceId, versionNumber, productId })
const member = (differences: Partial<StoredMember>): StoredMember => ({
  ...key('product', 0),
  isRuleBased: true,
  isOutdated: false,
  ...differences,
})
const rules = new Map([[workspaceId, [await fromStock(5, FEW), await fromStock(50, MANY), await fromStock(5, NEXT)]]])

it('a product becomes a member of every version whose rules it matches, CURRENT or BUILDING', async () => {
  const { added, removed, updated } = await planMembershipChanges(
    [product('a', 5), product('b', 50), product('c', 4)],
    rules,
    [],
  )
  const few = (id: string) => [key(id, FEW), key(id, NEXT)]
  const [shown, built] = few('b')
  expect(added).toEqual([...few('a'), shown, key('b', MANY), built])
  expect([removed, updated]).toEqual([[], []])
})

it('a member whose product no longer matches the rules is removed; it stays in the other versions', async () => {
  const members = [FEW, MANY].map((versionNumber) => member({ productId: 'a', versionNumber }))
  const { removed, updated, added } = await planMembershipChanges([product('a', 7)], rules, members)
  expect(removed).toEqual([members[1]])
  expect([updated, added]).toEqual([[], [key('a', NEXT)]])
})

it('rules neither add nor remove hand-picked members', async () => {
  const handPicked = member({ productId: 'a', isRuleBased: false })
  const { removed, updated } = await planMembershipChanges([product('a', 0)], rules, [handPicked])
  expect([removed, updated]).toEqual([[], []])
})

it('a member with another place or availability is updated, unless it is removed', async () => {
  const outdated = { productId: 'a', isOutdated: true }
  const members = [
    member({ ...outdated, versionNumber: FEW }),
    member({ ...outdated, versionNumber: MANY }),
    member({ ...outdated, isRuleBased: false }),
  ]
  const { removed, updated } = await planMembershipChanges([product('a', 7)], rules, members)
  expect(removed).toEqual([members[1]])
  expect(updated).toEqual([members[0], members[2]])
})

it('a workspace without rules gets no members', async () => {
  expect(await planMembershipChanges([product('a', 7)], new Map(), [])).toEqual({ removed: [], updated: [], added: [] })
})

it('lets others run while it compares a product with many rules', async () => {
  const conditions = Array.from({ length: 60 }, () => ({ field: 'stock', operator: 'gte', value: 1 }))
  const compiled = await compileRules({ match: 'all', conditions })
  const many = Array.from({ length: 20_000 }, (_, number) => ({ number, rules: compiled }))
  let turns = 0
  const others = setInterval(() => turns++, 1)
  const { added } = await planMembershipChanges([product('a', 1)], new Map([[workspaceId, many]]), [])
  clearInterval(others)
  expect(added).toHaveLength(20_000)
  expect(turns).toBeGreaterThan(3)
})
