import { expect, it } from 'vitest'
import { ACTIONS, GRANTS, isGranted, RESOURCES, type Scope } from './scopes.ts'

it.each<[string[], Scope, boolean]>([
  [['*'], 'product::create', true],
  [['product'], 'product::create', true],
  [['product::create'], 'product::create', true],
  [['sale', 'product::create'], 'product::create', true],
  [[], 'product::create', false],
  [['product::read'], 'product::create', false],
  [['sale'], 'product::create', false],
  [['sale::create'], 'product::create', false],
  [['prod'], 'product::create', false],
  [['product::'], 'product::create', false],
  [['product::*'], 'product::create', false],
  [['PRODUCT'], 'product::create', false],
  [['webhook'], 'webhook::delete', true],
])('a key granted %j needing %s: %s (OP-04)', (grants, needed, expected) => {
  expect(isGranted(grants, needed)).toBe(expected)
})

it('a bare resource grants its four actions and none of another (OP-04)', () => {
  for (const resource of RESOURCES) {
    const granted = RESOURCES.flatMap((other) => ACTIONS.map((action): Scope => `${other}::${action}`)).filter(
      (scope) => isGranted([resource], scope),
    )
    expect(granted).toEqual(ACTIONS.map((action) => `${resource}::${action}`))
  }
})

it('a key may carry full access, a resource or one action of one', () => {
  expect(GRANTS).toContain('*')
  expect(GRANTS).toContain('webhook')
  expect(GRANTS).toContain('customer::update')
  expect(GRANTS).toHaveLength(1 + RESOURCES.length * (1 + ACTIONS.length))
})
