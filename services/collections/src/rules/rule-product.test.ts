import { expect, test } from 'vitest'
import { ruleProductOf } from './rule-product.ts'
import { aCategory, aState, aVariant } from './testing/rule-samples.ts'

test('a product is known to rules by what their fields ask for', () => {
  const state = aState({
    name: 'Café STRASSE',
    type: 'VARIABLE_PRODUCT',
    status: 'HIDDEN',
    categories: [aCategory('00000000-0000-7000-8000-0000000000c1', 'headwear')],
    tags: [{ id: '00000000-0000-7000-8000-0000000000a1', name: 'On Sale', slug: 'on-sale' }],
    variants: [
      aVariant({ sku: 'CAP-M', price: { EUR: 1000, USD: 1100 }, cost: { EUR: 400 } }),
      aVariant({ sku: 'CAP-L', price: { EUR: 900 } }),
      aVariant({ sku: 'CAP-XL', price: { EUR: 1000 } }),
    ],
    total_stock: -3,
    requires_shipping: false,
    can_preorder: true,
    created_at: '2026-03-01T12:00:00Z',
  })

  expect(ruleProductOf(state)).toEqual({
    name: 'café strasse',
    skus: '\ncap-m\n\ncap-l\n\ncap-xl\n',
    type: 'VARIABLE_PRODUCT',
    status: 'HIDDEN',
    categories: ['00000000-0000-7000-8000-0000000000c1', 'headwear'],
    tags: ['00000000-0000-7000-8000-0000000000a1', 'on-sale', 'on sale'],
    prices: { EUR: [900, 1000], USD: [1100] },
    costs: { EUR: [400] },
    stock: -3,
    requires_shipping: false,
    can_preorder: true,
    created_at: '2026-03-01T12:00:00.000Z',
  })
})

test('a product without variants has no SKUs and no amounts', () => {
  expect(ruleProductOf(aState())).toMatchObject({ skus: '', prices: {}, costs: {} })
})

test('amounts are in the order of numbers', () => {
  const variants = [10, 9, 1000, 9].map((EUR) => aVariant({ price: { EUR } }))
  expect(ruleProductOf(aState({ variants })).prices).toEqual({ EUR: [9, 10, 1000] })
})

test('a SKU with a line break in it stays one SKU', () => {
  const variants = [aVariant({ sku: 'A\nB' })]
  expect(ruleProductOf(aState({ variants })).skus).toBe('\na b\n')
})

test('what a product has twice is listed once', () => {
  const tag = { id: '00000000-0000-7000-8000-0000000000a1', name: 'Sale', slug: 'sale' }
  expect(ruleProductOf(aState({ tags: [tag] })).tags).toEqual([tag.id, 'sale'])
})
