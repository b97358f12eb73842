import { LIMITS } from '@backoffice/contracts/limits.ts'
import { describe, expect, it } from 'vitest'
import { newProduct } from './plan-product.ts'
import { type ProductRecord, productBody, productState } from './product-view.ts'
import { hasManyParts, productMeasure, recordLimit } from './record-size.ts'

const now = new Date('2026-03-01T10:00:00.000Z')
const CURRENCIES = Intl.supportedValuesOf('currency')
const longest = (text: string, character = '\u0001') => text.padEnd(LIMITS.nameLength, character)
const many = <Item>(count: number, item: (n: number) => Item) => Array.from({ length: count }, (_, n) => item(n))
const id = (n: number) => `0198c7a0-0000-7000-8000-${`${n}`.padStart(12, '0')}`

/** A product of so many variants and values of one option, with the most and longest of all else. */
function aProduct(variants: number): ProductRecord {
  const amounts = Object.fromEntries(CURRENCIES.slice(0, LIMITS.currencies).map((code) => [code, 2 ** 53 - 1]))
  const values = many(variants, (n) => longest(`${n}`))
  const product = newProduct(
    { name: longest('Shirt'), type: 'VARIABLE_PRODUCT', description: '\u0001'.repeat(LIMITS.descriptionLength) },
    { options: [{ name: 'Size', values }], variants: [] },
    { slug: longest('shirt'), options: [{ id: id(0), name: 'Size' }], categories: [], tags: [], media: [] },
    now,
  )
  return {
    ...product,
    categories: many(LIMITS.idsPerCall, (n) => ({
      ...{ id: id(n), name: `${n}`, slug: `c${n}`, parent: null, parent_slug: null },
    })),
    tags: many(LIMITS.idsPerCall, (n) => ({ id: id(n), name: longest(`${n}`), slug: longest(`t${n}`, 'ひ') })),
    media: many(LIMITS.mediaPerProduct, (n) => ({
      ...{
        id: id(n),
        asset: id(n),
        path: longest(`${n}`),
        thumbnailPath: longest(`${n}`),
        type: 'image/png',
        position: n,
      },
    })),
    variants: values.map((value, n) => ({
      ...{ id: id(n), sku: longest(`${n}`), stock: 0, price: amounts, cost: amounts, attributes: { [id(0)]: value } },
    })),
  }
}

/** As it may become without a change of its own: its categories and their parents are renamed, its stock is ordered. */
const asOthersMakeIt = (product: ProductRecord): ProductRecord => ({
  ...product,
  version: Number.MAX_SAFE_INTEGER,
  categories: product.categories.map((category, n) => ({
    ...{
      id: category.id,
      name: longest(`${n}`),
      slug: longest(`${n}`, 'ひ'),
      parent: id(n),
      parent_slug: longest('p', 'ひ'),
    },
  })),
  variants: product.variants.map((variant, n) => ({
    ...variant,
    stock: Number.MIN_SAFE_INTEGER,
    // Each currency is in the range of its prices.
    price: n > 0 ? variant.price : Object.fromEntries(CURRENCIES.map((code) => [code, 2 ** 53 - 1])),
  })),
})

const recordBytes = (product: ProductRecord) =>
  Buffer.byteLength(JSON.stringify(productState(product, productBody(product))))

describe('the size of a product as a record (OP-120)', () => {
  it('is what others may make of it, but for the range of its prices', () => {
    const product = aProduct(60)
    const bytes = recordBytes(asOthersMakeIt(product))
    const measured = productMeasure()(product)
    expect(measured).toBeGreaterThan(bytes - 16 * 1024)
    expect(measured).toBeLessThan(bytes + 200 * 1024)
  })

  it('is the same when a part is measured again', () => {
    const bytesOf = productMeasure()
    const product = aProduct(60)
    expect(bytesOf(product)).toBe(bytesOf({ ...product, variants: [...product.variants] }))
  })

  it('is below the limit when the product has few parts', () => {
    const product = aProduct(33)
    expect(hasManyParts(product)).toBe(false)
    expect(hasManyParts(aProduct(34))).toBe(true)
    expect(recordBytes(asOthersMakeIt(product))).toBeLessThan(LIMITS.recordBytes - 1000)
  })

  it('may change while it fits as it is, when what others may make of it did not fit before', () => {
    const product = aProduct(380)
    expect(recordBytes(product)).toBeLessThan(LIMITS.recordBytes - 100_000)
    expect(productMeasure()(product)).toBeGreaterThan(LIMITS.recordBytes)
    const changed = { ...product, status: 'ACTIVE' as const }
    expect(recordLimit()(changed, product)).toBe(changed)
    expect(() => recordLimit()(changed)).toThrow('more than it may have')
    expect(() => recordLimit()(aProduct(900), product)).toThrow('more than it may have')
  })

  it('may only shrink when it is too large already', () => {
    const product = aProduct(900)
    const smaller = { ...product, description: null }
    const fitting = recordLimit()
    expect(fitting(smaller, product)).toBe(smaller)
    expect(() => fitting({ ...product }, product)).toThrow('more than it may have')
    expect(() => fitting(product, smaller)).toThrow('more than it may have')
    expect(() => fitting(product)).toThrow('more than it may have')
  })
})
