import { expect, it, vi } from 'vitest'
import { findField, operatorNames } from '../../../services/collections/src/rules/fields.ts'
import {
  conditionOf,
  conditionText,
  haveSameRules,
  localTime,
  RULE_FIELDS,
  type Rules,
  typedOf,
  withOperator,
} from './rules.ts'

/** The form shows minutes; what nobody has changed keeps its seconds. */
const AT = '2026-03-01T12:00:30.500Z'

it('offers each field with the operators that the service takes', () => {
  for (const [name, { kind, operators }] of Object.entries(RULE_FIELDS)) {
    const field = findField(kind === 'money' ? `${name}.EUR` : name)
    const taken = field ? operatorNames(field).split(', ') : []
    expect([name, operators.toSorted()]).toEqual([name, taken.toSorted()])
  }
})

it.each([
  [{ field: 'tag', operator: 'eq', value: 'summer' }, 'Tag is summer'],
  [{ field: 'price.EUR', operator: 'gte', value: 4900 }, 'Price in EUR is at least EUR 49.00'],
  [{ field: 'stock', operator: 'in', value: [1, 2] }, 'Stock is one of 1, 2'],
  [{ field: 'type', operator: 'ne', value: 'VIRTUAL_PRODUCT' }, 'Type is not virtual'],
  [{ field: 'can_preorder', operator: 'eq', value: true }, 'Can be pre-ordered is yes'],
  [{ field: 'category', operator: 'is_set' }, 'Category is set'],
  [{ field: 'name', operator: 'contains', value: ' XL' }, 'Name contains  XL'],
  [{ field: 'created_at', operator: 'gt', value: AT }, `Added is after ${new Date(AT).toLocaleString()}`],
])('reads %j in words, and is as it was once it went through the form', (condition, words) => {
  expect(conditionText(condition).replaceAll('\u00a0', ' ')).toBe(words)
  expect(conditionOf(typedOf(condition))).toEqual(condition)
})

it.each([
  { field: 'stock', currency: '', operator: 'gt', value: '1.5' },
  { field: 'price', currency: 'EUR', operator: 'eq', value: '1,200' },
  { field: 'name', currency: '', operator: 'contains', value: ' ' },
  { field: 'created_at', currency: '', operator: 'gt', value: 'yesterday' },
])('refuses the value of %j', (typed) => {
  expect(() => conditionOf(typed)).toThrow('does not fit')
})

it('keeps the first of several values when a condition takes one, and each when it takes them all', () => {
  const typed = typedOf({ field: 'tag', operator: 'in', value: ['summer', 'sale'] })
  expect(conditionOf(withOperator(typed, 'eq'))).toEqual({ field: 'tag', operator: 'eq', value: 'summer' })
  expect(conditionOf(withOperator(typed, 'not_in'))).toMatchObject({ value: ['summer', 'sale'] })
  expect(conditionOf(withOperator(withOperator(typed, 'is_set'), 'in'))).toMatchObject({ value: ['summer', 'sale'] })
  expect(conditionOf(withOperator(withOperator(typed, 'is_set'), 'ne'))).toMatchObject({ value: 'summer' })
  const part = { field: 'name', currency: '', operator: 'contains', value: ' XL' }
  expect(withOperator(part, 'starts_with').value).toBe(' XL')
})

it('takes rules that are kept while products are picked by hand for others', () => {
  const rules: Rules = { match: 'all', conditions: [{ field: 'tag', operator: 'eq', value: 'summer' }] }
  const smart = { membership_type: 'SMART', rules } as const
  expect(haveSameRules(smart, { ...smart })).toBe(true)
  expect(haveSameRules(smart, { ...smart, membership_type: 'MANUAL' })).toBe(false)
  expect(haveSameRules(smart, { ...smart, rules: { ...rules, match: 'any' } })).toBe(false)
})

it('takes rules for the same with their members in another order', () => {
  const typed: Rules = { match: 'all', conditions: [{ field: 'tag', operator: 'eq', value: 'summer' }] }
  const read: Rules = { conditions: [{ value: 'summer', operator: 'eq', field: 'tag' }], match: 'all' }
  expect(haveSameRules({ membership_type: 'SMART', rules: read }, { membership_type: 'SMART', rules: typed })).toBe(
    true,
  )
})

it('shows a time that is being typed as it is, and sends it as the moment that it is there', () => {
  // The years of a half typed date have a local mean time, which is no whole number of minutes from UTC.
  vi.stubEnv('TZ', 'Europe/Berlin')
  const local = localTime('2026-03-01T12:00:30.500Z')
  const halfTyped = localTime('0020-03-01T12:30')
  vi.unstubAllEnvs()
  expect([local, halfTyped]).toEqual(['2026-03-01T13:00', '0020-03-01T12:30'])
  const typed = { field: 'created_at', currency: '', operator: 'gt', value: '2026-03-01T12:30' }
  expect(conditionOf(typed)).toMatchObject({ value: new Date('2026-03-01T12:30').toISOString() })
})
