import { VARIANT } from '@backoffice/contracts/product.ts'
import { expect, it } from 'vitest'
import type { ProductRecord, VariantRecord } from '../products/product-view.ts'
import { planAttributes, refuseOneTooMany, refuseTooMuchStock, withChangedVariant } from './plan-variant.ts'

const SIZE = { id: 's', name: 'Size', values: ['S', 'M'] }
const COLOUR = { id: 'c', name: 'Colour', values: ['Red'] }
const variant = (id: string, attributes: Record<string, string>, stock = 0): VariantRecord => ({
  ...VARIANT.initial,
  id,
  sku: `sku-${id}`,
  stock,
  price: { NGN: 1, USD: 2 },
  attributes,
})
const SMALL = variant('1', { s: 'S', c: 'Red' }, 5)
const MEDIUM = variant('2', { c: 'Red', s: 'M' })
const product = (...variants: VariantRecord[]) => ({ options: [SIZE, COLOUR], variants }) as unknown as ProductRecord

it('turns option names into ids, whatever their order, and leaves options alone that have the values', () => {
  const plan = planAttributes(product(SMALL), [SIZE, COLOUR], { Colour: 'Red', Size: 'M' })
  expect(plan).toEqual({ attributes: { s: 'M', c: 'Red' }, options: [SIZE, COLOUR] })
})

it('adds a value the product does not have at the end of its option (OP-22, OP-24)', () => {
  const plan = planAttributes(product(SMALL), [SIZE, COLOUR], { Size: 'L', Colour: 'Red' })
  expect(plan.options).toEqual([{ ...SIZE, values: ['S', 'M', 'L'] }, COLOUR])
})

it.each([
  ['attributes.Fit: ', { Size: 'M', Colour: 'Red', Fit: 'Slim' }],
  ['attributes.toString: ', { Size: 'M', Colour: 'Red', toString: 'x' }],
  ['attributes: needs a value for the option "Colour"', { Size: 'M' }],
  ['attributes: the variant "sku-1" has the same combination', { Colour: 'Red', Size: 'S' }],
])('refuses with %s', (message, attributes) => {
  expect(() => planAttributes(product(SMALL), [SIZE, COLOUR], attributes)).toThrow(message)
})

it('reads the name of each option a few times, however many attributes are sent', () => {
  let reads = 0
  const options = Array.from({ length: 1000 }, (_, index) => ({
    id: `o${index}`,
    get name() {
      reads++
      return `Option ${index}`
    },
    values: ['x'],
  }))
  const attributes = Object.fromEntries(options.map((_, index) => [`Option ${index}`, 'x']))
  expect(planAttributes(product(), options, attributes).options).toHaveLength(1000)
  expect(reads).toBeLessThanOrEqual(5 * options.length)
})

it('lets a variant keep its own combination, and not take that of another', () => {
  const both = product(SMALL, MEDIUM)
  const plan = (attributes: Record<string, string>) => planAttributes(both, [SIZE, COLOUR], attributes, SMALL)
  expect(plan({ Size: 'S', Colour: 'Red' }).attributes).toEqual(SMALL.attributes)
  expect(() => plan({ Size: 'M', Colour: 'Red' })).toThrow('the variant "sku-2"')
})

it('refuses attributes that would define no option', () => {
  expect(() => planAttributes(product(), [], {})).toThrow('attributes: needs a value for at least one option')
})

it('changes only what differs, whatever the order of members (OP-73)', () => {
  const before = product(SMALL)
  const same = { sku: 'sku-1', price: { USD: 2, NGN: 1 }, cost: null, attributes: { Colour: 'Red', Size: 'S' } }
  expect(withChangedVariant(before, SMALL, same)).toEqual(before)
  expect(withChangedVariant(before, SMALL, {})).toEqual(before)
  const other = { price: null, sku: 'sku-1', attributes: { Colour: 'Red', Size: 'M' } }
  expect(withChangedVariant(before, SMALL, other)).toEqual({
    ...before,
    variants: [{ ...SMALL, price: {}, attributes: { s: 'M', c: 'Red' } }],
  })
})

it('counts the stock of the other variants towards 2^53−1', () => {
  const limit = Number.MAX_SAFE_INTEGER
  expect(() => refuseTooMuchStock(product(SMALL, MEDIUM), limit - 5)).not.toThrow()
  expect(() => refuseTooMuchStock(product(SMALL, MEDIUM), limit - 4)).toThrow('stock: ')
  expect(() => refuseTooMuchStock(product(SMALL, MEDIUM), limit, SMALL)).not.toThrow()
})

it('lets a product have 2,048 variants and no more (OP-07)', () => {
  const many = (count: number) => product(...Array.from({ length: count }, () => SMALL))
  expect(() => refuseOneTooMany(many(2047))).not.toThrow()
  expect(() => refuseOneTooMany(many(2048))).toThrow('id: the product has 2048 variants')
})
