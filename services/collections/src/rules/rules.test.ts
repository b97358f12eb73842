import type { ApiError } from '@backoffice/contracts/errors.ts'
import { expect, test } from 'vitest'
import { readRules } from './rules.ts'

const refusal = (rules: unknown): string => {
  try {
    readRules(rules)
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad_request' })
    return (error as ApiError).message
  }
  return ''
}

const withCondition = (...conditions: unknown[]) => ({ match: 'all', conditions })

const texts = 'eq ne contains not_contains starts_with ends_with in not_in is_set is_not_set'.split(' ')
const numbers = 'eq ne gt gte lt lte in not_in is_set is_not_set'.split(' ')
const lists = 'eq ne in not_in is_set is_not_set'.split(' ')
const choices = 'eq ne in not_in'.split(' ')
const flags = ['eq', 'ne']
const operators = [...new Set([...texts, ...numbers])]
const time = '2026-03-01T12:00:00+01:00'

const fields: [field: string, takes: string[], value: unknown][] = [
  ['name', texts, 'x'],
  ['sku', texts, 'x'],
  ['type', choices, 'SIMPLE_PRODUCT'],
  ['status', choices, 'ARCHIVED'],
  ['category', lists, 'x'],
  ['tag', lists, 'x'],
  ['price.EUR', numbers, 0],
  ['cost.NGN', numbers, Number.MAX_SAFE_INTEGER],
  ['stock', numbers, -1],
  ['requires_shipping', flags, false],
  ['can_preorder', flags, true],
  ['created_at', numbers, time],
]

const cases = fields.flatMap(([field, takes, value]) =>
  operators.map((operator) => ({ field, operator, takes, value })),
)

const valueFor = (operator: string, value: unknown) => {
  if (operator.startsWith('is_')) return {}
  return { value: operator.endsWith('in') ? [value, value] : value }
}

test.each(cases.filter(({ takes, operator }) => takes.includes(operator)))(
  '$field takes $operator',
  ({ field, operator, value }) => {
    const rules = withCondition({ field, operator, ...valueFor(operator, value) })
    expect(readRules(rules)).toEqual(rules)
  },
)

test.each(cases.filter(({ takes, operator }) => !takes.includes(operator)))(
  '$field does not take $operator',
  ({ field, operator, takes, value }) => {
    const message = refusal(withCondition({ field, operator, ...valueFor(operator, value) }))
    expect(message).toMatch(`rules.conditions[0].operator: ${field} takes `)
    expect(message.replace(/.* takes /, '').split(', ')).toEqual(takes)
  },
)

const FIELDS =
  'must be one of name, sku, type, status, category, tag, stock, requires_shipping, can_preorder, created_at, price.<CUR>, cost.<CUR>'

test.each([
  'price',
  'price.eur',
  'price.EURO',
  'price.EUR.x',
  'price.EUR\n',
  'prices',
  'Name',
  ' name',
  '',
  '__proto__',
  'constructor',
  'description',
])('%j is no field, and the message says which there are', (field) => {
  expect(refusal(withCondition({ field, operator: 'eq', value: 'x' }))).toBe(`rules.conditions[0].field: ${FIELDS}`)
})

const NO_AMOUNT = 'must be an integer in minor units'
const NO_TIME = 'must be an ISO 8601 date-time with its offset, such as 2026-03-01T12:00:00Z'

test.each<[field: string, operator: string, value: unknown, message: string]>([
  ['name', 'eq', undefined, 'value: is required'],
  ['name', 'eq', null, 'value: must be a string, not null'],
  ['name', 'eq', 5, 'value: must be a string, not a number'],
  ['name', 'contains', '', 'value: must have at least 1 character'],
  ['sku', 'starts_with', 'x'.repeat(256), 'value: must have at most 255 characters'],
  ['name', 'in', 'x', 'value: must be an array, not a string'],
  ['name', 'in', [], 'value: must have at least 1 item'],
  ['tag', 'not_in', Array(1001).fill('x'), 'value: must have at most 1000 items'],
  ['category', 'in', ['x', 1], 'value[1]: must be a string, not a number'],
  ['name', 'is_set', true, 'value: must be left out'],
  ['stock', 'is_not_set', [], 'value: must be left out'],
  ['price.EUR', 'gt', undefined, `value: ${NO_AMOUNT} (it is missing)`],
  ['price.EUR', 'gt', 9.99, `value: ${NO_AMOUNT}`],
  ['cost.EUR', 'eq', '999', `value: ${NO_AMOUNT}`],
  ['cost.EUR', 'eq', { EUR: 1 }, `value: ${NO_AMOUNT}`],
  ['cost.EUR', 'in', [1, 'x'], `value[1]: ${NO_AMOUNT}`],
  ['stock', 'lt', 0.5, 'value: must be an integer'],
  ['stock', 'lt', 2 ** 53, 'value: must be at most 9007199254740991'],
  ['stock', 'lt', -(2 ** 53), 'value: must be at least -9007199254740991'],
  ['type', 'eq', 'SIMPLE', 'value: must be one of SIMPLE_PRODUCT, VARIABLE_PRODUCT, VIRTUAL_PRODUCT'],
  ['status', 'in', ['ACTIVE', 'active'], 'value[1]: must be one of ACTIVE, HIDDEN, ARCHIVED'],
  ['can_preorder', 'eq', 'true', 'value: must be true or false, not a string'],
  ['can_preorder', 'ne', undefined, 'value: is required'],
  ['created_at', 'gt', '2026-03-01', `value: ${NO_TIME}`],
  ['created_at', 'gt', '2026-03-01T12:00:00', `value: ${NO_TIME}`],
  ['created_at', 'gt', '2026-02-30T12:00:00Z', `value: ${NO_TIME}`],
  ['created_at', 'in', [time, '-7d'], `value[1]: ${NO_TIME}`],
  ['created_at', 'lt', '0999-12-31T23:59:59Z', 'value: must lie in the years 1000 to 9999, in UTC'],
])('%s %s refuses %j by the path of the mistake', (field, operator, value, message) => {
  expect(refusal(withCondition({ field, operator, value }))).toBe(`rules.conditions[0].${message}`)
})

test('texts and lists are taken up to their limits', () => {
  const longest = 'x'.repeat(255)
  expect(refusal(withCondition({ field: 'name', operator: 'in', value: Array(1000).fill(longest) }))).toBe('')
})

test('null stands for no value where none is due (OP-09)', () => {
  expect(refusal(withCondition({ field: 'sku', operator: 'is_set', value: null }))).toBe('')
})

test.each<[rules: unknown, message: string]>([
  [undefined, 'rules: is required'],
  [null, 'rules: must be an object, not null'],
  ['all', 'rules: must be an object, not a string'],
  [{}, 'rules.match: is required; rules.conditions: is required'],
  [
    { match: 'ALL', conditions: [] },
    'rules.match: must be one of all, any; rules.conditions: must have at least 1 item',
  ],
  [withCondition(), 'rules.conditions: must have at least 1 item'],
  [
    withCondition(...Array(61).fill({ field: 'stock', operator: 'is_set' })),
    'rules.conditions: must have at most 60 items',
  ],
  [{ ...withCondition({ field: 'sku', operator: 'is_set' }), or: [] }, 'rules.or: unknown member'],
  [withCondition({ field: 'sku', operator: 'is_set', not: true }), 'rules.conditions[0].not: unknown member'],
  [withCondition(null), 'rules.conditions[0]: must be an object, not null'],
  [
    withCondition({ field: 'sku', operator: 'is_set' }, {}),
    'rules.conditions[1].field: is required; rules.conditions[1].operator: is required',
  ],
])('rules %j are refused', (rules, message) => {
  expect(refusal(rules)).toBe(message)
})

test('each mistake is named once', () => {
  const mistakes = withCondition(
    { field: 'colour', operator: 'is', value: [] },
    { field: 'stock', operator: 'contains', value: 'x', note: 'x' },
    { field: 'stock', operator: 'in', value: [1, 'x'] },
  )
  expect(refusal(mistakes).split('; ')).toEqual([
    `rules.conditions[0].field: ${FIELDS}`,
    'rules.conditions[1].note: unknown member',
    `rules.conditions[1].operator: stock takes ${numbers.join(', ')}`,
    'rules.conditions[2].value[1]: must be an integer',
  ])
})
