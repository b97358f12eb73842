import { expect, it } from 'vitest'
import { compileRules } from '../rules/compile.ts'
import type { RuleProduct } from '../rules/rule-product.ts'
import { type Membership, planSettlement } from './plan-settlement.ts'

const workspaceId = 'workspace'
const asked = (stock: number): RuleProduct => ({
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
const product = (id: string, stock: number) => ({ workspaceId, id, asked: asked(stock) })
const [FEW, MANY, NEXT] = [1, 2, 3]
const fromStock = (value: number, number: number) => ({
  number,
  rules: compileRules({ match: 'all', conditions: [{ field: 'stock', operator: 'gte', value }] }),
})
const key = (productId: string, number: number) => ({ workspaceId, number, productId })
const membership = (differences: Partial<Membership>): Membership => ({
  ...key('product', 0),
  isRuled: true,
  isMoved: false,
  ...differences,
})
const rules = new Map([[workspaceId, [fromStock(5, FEW), fromStock(50, MANY), fromStock(5, NEXT)]]])

it('a product joins every generation whose rules it meets: the one that is shown, and the one that is being built', () => {
  const { joining, leaving, moving } = planSettlement([product('a', 5), product('b', 50), product('c', 4)], rules, [])
  const few = (id: string) => [key(id, FEW), key(id, NEXT)]
  const [shown, built] = few('b')
  expect(joining).toEqual([...few('a'), shown, key('b', MANY), built])
  expect([leaving, moving]).toEqual([[], []])
})

it('it leaves those whose rules it meets no more, and stays in the others', () => {
  const memberships = [FEW, MANY].map((number) => membership({ productId: 'a', number }))
  const { leaving, moving, joining } = planSettlement([product('a', 7)], rules, memberships)
  expect(leaving).toEqual([memberships[1]])
  expect([moving, joining]).toEqual([[], [key('a', NEXT)]])
})

it('what was picked by hand neither comes nor goes with the rules', () => {
  const picked = membership({ productId: 'a', isRuled: false })
  const { leaving, moving } = planSettlement([product('a', 0)], rules, [picked])
  expect([leaving, moving]).toEqual([[], []])
})

it('a member whose place or availability has changed moves, unless it leaves', () => {
  const moved = { productId: 'a', isMoved: true }
  const memberships = [
    membership({ ...moved, number: FEW }),
    membership({ ...moved, number: MANY }),
    membership({ ...moved, isRuled: false }),
  ]
  const { leaving, moving } = planSettlement([product('a', 7)], rules, memberships)
  expect(leaving).toEqual([memberships[1]])
  expect(moving).toEqual([memberships[0], memberships[2]])
})

it('a workspace without rules gathers nothing', () => {
  expect(planSettlement([product('a', 7)], new Map(), [])).toEqual({ leaving: [], moving: [], joining: [] })
})
