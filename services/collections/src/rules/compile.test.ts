import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { expect, test } from 'vitest'
import { compileRules, explainRules, UnreadableRules } from './compile.ts'
import { findField } from './fields.ts'
import { ruleProductOf } from './rule-product.ts'
import { type Rules, readRules } from './rules.ts'
import { aCategory, aState, aVariant } from './testing/rule-samples.ts'

const holds = async (product: Partial<ProductState>, field: string, operator: string, value?: unknown) => {
  const { matches } = await compileRules(readRules({ match: 'all', conditions: [{ field, operator, value }] }))
  return matches(ruleProductOf(aState(product)))
}

type Row = [operator: string, value: unknown, holds: boolean]

/** Each row: whether a condition on the field holds for the product. */
const table = (title: string, field: string, product: Partial<ProductState>, rows: Row[]) =>
  test.each(rows)(`${title}: ${field} %s %j is %j`, async (operator, value, expected) => {
    expect(await holds(product, field, operator, value)).toBe(expected)
  })

table('texts are compared without regard to case', 'name', { name: 'Red Café 100% STRASSE\nXL' }, [
  ['eq', 'red café 100% straße xl', true],
  ['eq', 'red café 100% straße', false],
  ['ne', 'RED CAFÉ 100% STRASSE XL', false],
  ['ne', 'red', true],
  ['in', ['blue', 'RED CAFÉ 100% STRASSE XL'], true],
  ['in', ['blue', 'red'], false],
  ['not_in', ['blue', 'red'], true],
  ['contains', 'CAFE\u0301', true],
  ['contains', 'cafe', false],
  ['contains', ' ', true],
  ['not_contains', 'cafe', true],
  ['starts_with', 'RED', true],
  ['starts_with', 'ed', false],
  ['ends_with', ' xl', true],
  ['ends_with', 'x', false],
  ['is_set', undefined, true],
  ['is_not_set', undefined, false],
])

table('no value is a pattern', 'name', { name: 'a%b_c\\d.*' }, [
  ['contains', '%b_', true],
  ['contains', 'a%c', false],
  ['contains', 'a_b', false],
  ['contains', 'c\\d', true],
  ['contains', 'd.*', true],
  ['eq', 'a%', false],
  ['starts_with', 'a%', true],
  ['starts_with', '%', false],
  ['ends_with', '.*', true],
  ['ends_with', '_', false],
])

table(
  'a SKU condition holds when it does for any variant',
  'sku',
  { variants: [aVariant({ sku: 'CAP-M' }), aVariant({ sku: 'HAT L' })] },
  [
    ['eq', 'hat l', true],
    ['eq', 'cap', false],
    ['eq', 't l', false],
    ['eq', 'cap-m\n\nhat l', false],
    ['ne', 'hat l', false],
    ['ne', 'hat', true],
    ['in', ['x', 'Cap-M'], true],
    ['in', ['cap', 'm'], false],
    ['not_in', ['x', 'cap-m'], false],
    ['contains', 'p-', true],
    ['contains', 'm h', false],
    ['not_contains', 'x', true],
    ['starts_with', 'hat', true],
    ['starts_with', 'at', false],
    ['ends_with', '-M', true],
    ['ends_with', 'hat', false],
    ['is_set', undefined, true],
  ],
)

table('a product without variants has no SKU', 'sku', {}, [
  ['eq', 'x', false],
  ['ne', 'x', true],
  ['in', ['x'], false],
  ['not_in', ['x'], true],
  ['contains', 'x', false],
  ['not_contains', 'x', true],
  ['is_set', undefined, false],
  ['is_not_set', undefined, true],
])

table(
  'a price condition holds when it does for any variant',
  'price.EUR',
  { variants: [aVariant({ price: { EUR: 1000 } }), aVariant({ price: { EUR: 90, USD: 5 } }), aVariant()] },
  [
    ['eq', 1000, true],
    ['eq', 90, true],
    ['eq', 100, false],
    ['ne', 90, false],
    ['ne', 5, true],
    ['gt', 999, true],
    ['gt', 1000, false],
    ['gte', 1000, true],
    ['gte', 1001, false],
    ['lt', 91, true],
    ['lt', 90, false],
    ['lte', 90, true],
    ['lte', 89, false],
    ['in', [5, 90], true],
    ['in', [5], false],
    ['not_in', [5, 90], false],
    ['not_in', [5], true],
    ['is_set', undefined, true],
    ['is_not_set', undefined, false],
  ],
)

table(
  'no comparison with an unset price holds, and each negation does',
  'price.EUR',
  { variants: [aVariant({ price: { USD: 5 } })] },
  [
    ['eq', 5, false],
    ['ne', 5, true],
    ['gt', -1, false],
    ['gte', 0, false],
    ['lt', 1, false],
    ['lte', 0, false],
    ['in', [0, 5], false],
    ['not_in', [0, 5], true],
    ['is_set', undefined, false],
    ['is_not_set', undefined, true],
  ],
)

table('costs are not prices', 'cost.EUR', { variants: [aVariant({ price: { EUR: 5 }, cost: { EUR: 3 } })] }, [
  ['eq', 3, true],
  ['eq', 5, false],
])

table('stock is that of all variants together', 'stock', { total_stock: -1 }, [
  ['eq', -1, true],
  ['ne', 0, true],
  ['gt', -2, true],
  ['gt', -1, false],
  ['gte', -1, true],
  ['lt', 0, true],
  ['lt', -1, false],
  ['lte', -1, true],
  ['in', [-1, 1], true],
  ['not_in', [-1, 1], false],
  ['is_set', undefined, true],
  ['is_not_set', undefined, false],
])

const id = '00000000-0000-7000-8000-00000000000c'

table(
  'a category is named by its id or slug',
  'category',
  { categories: [aCategory(id, 'head-wear'), aCategory(id, 'sale')] },
  [
    ['eq', id.toUpperCase(), true],
    ['eq', 'Head-Wear', true],
    ['eq', 'head', false],
    ['ne', 'sale', false],
    ['ne', 'shoes', true],
    ['in', ['shoes', 'sale'], true],
    ['not_in', ['shoes'], true],
    ['is_set', undefined, true],
    ['is_not_set', undefined, false],
  ],
)

table('a tag is named by its id, slug or name', 'tag', { tags: [{ id, name: 'Été %', slug: 'ete' }] }, [
  ['eq', id, true],
  ['eq', 'ete', true],
  ['eq', 'ÉTÉ %', true],
  ['eq', 'été', false],
  ['in', ['x', 'ete'], true],
  ['not_in', ['x', 'ete'], false],
  ['is_set', undefined, true],
])

test.each(['category', 'tag'])('a product without any has no %s', async (field) => {
  expect(await holds({}, field, 'eq', 'x')).toBe(false)
  expect(await holds({}, field, 'ne', 'x')).toBe(true)
  expect(await holds({}, field, 'is_set')).toBe(false)
  expect(await holds({}, field, 'is_not_set')).toBe(true)
})

table('types and statuses are those of the product', 'status', { status: 'HIDDEN' }, [
  ['eq', 'HIDDEN', true],
  ['eq', 'ACTIVE', false],
  ['ne', 'ACTIVE', true],
  ['in', ['ACTIVE', 'HIDDEN'], true],
  ['not_in', ['ACTIVE', 'ARCHIVED'], true],
])

test('booleans are compared as they are', async () => {
  expect(await holds({ requires_shipping: false }, 'requires_shipping', 'eq', false)).toBe(true)
  expect(await holds({ requires_shipping: false }, 'requires_shipping', 'ne', false)).toBe(false)
  expect(await holds({ can_preorder: true }, 'can_preorder', 'eq', true)).toBe(true)
})

table('times are compared as instants, to the millisecond', 'created_at', { created_at: '2026-03-01T11:00:00Z' }, [
  ['eq', '2026-03-01T12:00:00.000+01:00', true],
  ['eq', '2026-03-01T11:00:00.001Z', false],
  ['gt', '2026-03-01T10:59:59.999Z', true],
  ['gt', '2026-03-01T11:30:00+01:00', true],
  ['gt', '2026-03-01T11:00:00Z', false],
  ['gte', '2026-03-01T11:00:00Z', true],
  ['lt', '2026-03-01T10:30:00-01:00', true],
  ['lte', '2026-03-01T11:00:00+00:01', false],
  ['in', ['2026-03-01T12:00:00+01:00'], true],
])

test.each<[field: string, value: (number: number) => unknown]>([
  ['name', (number) => `item ${number}`],
  ['sku', (number) => `ITEM-${number}`],
  ['category', (number) => `items-${number}`],
  ['tag', (number) => `items ${number}`],
  ['price.EUR', (number) => number],
  ['stock', (number) => number],
  ['created_at', (number) => new Date(number).toISOString()],
])('%s is looked for in all of a long list', async (field, value) => {
  const product: Partial<ProductState> = {
    name: 'Item 500',
    variants: [aVariant({ sku: 'item-500', price: { EUR: 500 } })],
    categories: [aCategory(id, 'items-500')],
    tags: [{ id, name: 'Items 500', slug: 'items-500' }],
    total_stock: 500,
    created_at: new Date(500).toISOString(),
  }
  const list = (from: number) => Array.from({ length: 100 }, (_, index) => value(from + index))
  expect(await holds(product, field, 'in', list(401))).toBe(true)
  expect(await holds(product, field, 'in', list(500))).toBe(true)
  expect(await holds(product, field, 'in', list(501))).toBe(false)
  expect(await holds(product, field, 'not_in', list(500))).toBe(false)
  expect(await holds(product, field, 'not_in', list(501))).toBe(true)
})

const stock = (operator: string, value: number) => ({ field: 'stock', operator, value })

test.each([
  ['all', [stock('gt', 1), stock('lt', 9)], true],
  ['all', [stock('gt', 1), stock('lt', 5)], false],
  ['any', [stock('gt', 9), stock('lt', 9)], true],
  ['any', [stock('gt', 9), stock('lt', 5)], false],
])('rules that match %s of %j', async (match, conditions, expected) => {
  const rules = await compileRules(readRules({ match, conditions }))
  expect(rules.matches(ruleProductOf(aState({ total_stock: 5 })))).toBe(expected)
})

test('each condition is told by itself, in the order of the rules', async () => {
  const rules = readRules({ match: 'all', conditions: [stock('gt', 9), stock('lt', 9), stock('eq', 1)] })
  expect(await explainRules(rules, ruleProductOf(aState({ total_stock: 5 })))).toEqual([false, true, false])
})

const product = ruleProductOf(aState({ name: 'é 999' }))

test.each<[did: string, work: (rules: Rules) => Promise<unknown>, result: unknown]>([
  ['compiled', async (rules) => (await compileRules(rules)).matches(product), true],
  ['explained', (rules) => explainRules(rules, product), Array.from({ length: 60 }, () => true)],
])('others run while long rules are %s', async (_, work, result) => {
  const value = Array.from({ length: 1000 }, (_, number) => `É ${number}`)
  const conditions = Array.from({ length: 60 }, () => ({ field: 'name', operator: 'in', value }))
  let turns = 0
  const others = setInterval(() => turns++, 1)
  expect(await work({ match: 'all', conditions })).toEqual(result)
  clearInterval(others)
  expect(turns).toBeGreaterThan(3)
})

const CONDITIONS = 5000
const VARIANTS = Array.from({ length: 500 }, (_, n) => aVariant({ sku: `Cap ${n}`, price: { EUR: n } }))
const LARGE = { variants: VARIANTS, tags: VARIANTS.map(({ sku }) => ({ id: sku, slug: sku, name: sku })) }
const numbers = Array.from({ length: CONDITIONS }, (_, number) => number)
const isOneOf = (number: number) => number < VARIANTS.length

test.each<[field: string, operator: string, value: (number: number) => unknown, holds: (number: number) => boolean]>([
  ['sku', 'eq', (number) => `cap ${number}`, isOneOf],
  ['sku', 'in', (number) => [`cap ${number}`], isOneOf],
  ['sku', 'contains', (number) => `p ${number}`, isOneOf],
  ['sku', 'starts_with', (number) => `cap ${number}`, isOneOf],
  ['sku', 'ends_with', (number) => ` ${number}`, isOneOf],
  ['sku', 'contains', (number) => `${number} `, () => false],
  ['tag', 'eq', (number) => `cap ${number}`, isOneOf],
  ['tag', 'in', (number) => [`cap ${number}`], isOneOf],
  ['price.EUR', 'eq', (number) => number, isOneOf],
  ['price.EUR', 'in', (number) => [number], isOneOf],
])(
  '%s %s: a large product is not gone through for each of many conditions',
  async (field, operator, value, expected) => {
    const conditions = numbers.map((number) => ({ field, operator, value: value(number) }))
    const product = ruleProductOf(aState(LARGE))
    let read = 0
    const counted = <Values extends object>(values: Values) =>
      new Proxy(values, {
        get(of, name) {
          read++
          return Reflect.get(of, name)
        },
      })
    const large = {
      ...product,
      tags: counted(product.tags),
      prices: { EUR: counted(product.prices.EUR ?? []) },
      get skus() {
        read += 10
        return product.skus
      },
    }
    expect(await explainRules({ match: 'any', conditions }, large)).toEqual(numbers.map(expected))
    expect(read).toBeLessThan(CONDITIONS)
  },
)

test('the amounts of all currencies are read by the same schemas', () => {
  const schemasOf = (field: string) => [...(findField(field) ?? [])].map(([, { value }]) => value)
  const others = schemasOf('cost.USD')
  expect(schemasOf('price.EUR').filter((schema, index) => schema !== others[index])).toEqual([])
})

test('rules that were never read are refused', async () => {
  const compile = (condition: { field: string; operator: string; value?: unknown }) =>
    compileRules({ match: 'all', conditions: [condition] })
  await expect(compile({ field: 'colour', operator: 'eq', value: 'x' })).rejects.toThrow(UnreadableRules)
  await expect(compile({ field: 'stock', operator: 'eq', value: 'x' })).rejects.toThrow(UnreadableRules)
})
