import { VARIANT } from '@backoffice/contracts/product.ts'
import { expect, it } from 'vitest'
import { claimedBy, differenceOf } from './product-difference.ts'
import type { ProductRecord, VariantRecord } from './product-view.ts'

const variant = (id: string, differences: Partial<VariantRecord> = {}): VariantRecord => ({
  ...VARIANT.initial,
  ...{ id, sku: `sku-${id}`, stock: 5, attributes: {} },
  ...differences,
})
const product = (differences: Partial<ProductRecord> = {}) =>
  ({
    ...{ id: 'p', slug: 'mug', name: 'Mug', version: 1, updatedAt: new Date(0) },
    ...{ categories: [], tags: [], options: [], media: [], variants: [variant('1')] },
    ...differences,
  }) as unknown as ProductRecord
const between = (before: Partial<ProductRecord>, after: Partial<ProductRecord>) =>
  differenceOf([{ before: product(before), after: product(after) }])
const tag = (id: string) => ({ id, name: id, slug: id })

it('has a stock only where it changed', () => {
  const stocks = (after: Partial<VariantRecord>) =>
    between({}, { variants: [variant('1', after)] }).changedVariants.map(({ stock }) => stock)
  expect([stocks({ stock: 6 }), stocks({ sku: 'other' }), stocks({})]).toEqual([[6], [undefined], []])
})

it('sets the name and the slug only where they change, and no column for a change that only counts', () => {
  const columns = (change: Parameters<typeof between>[1]) =>
    between({}, change)
      .assignments.split(', ')
      .map((one) => one.split(' = ')[0])
  expect(columns({ version: 2, updatedAt: new Date(9) })).toEqual(['version', 'refreshes', 'updated_at'])
  expect(columns({ name: 'Cup' })).toEqual(['name', 'version', 'refreshes', 'updated_at'])
  expect(columns({ description: 'New' })).toContain('description')
  expect(columns({ description: 'New' })).not.toContain('slug')
})

it('claims the SKUs and slugs that are new, and no SKU that a removed variant leaves free', () => {
  const claimed = (before: Partial<ProductRecord>, after: Partial<ProductRecord>) =>
    claimedBy({ before: product(before), after: product(after) })
  const variants = [variant('1', { sku: 'other' }), variant('2'), variant('3')]
  expect(claimed({ variants: [variant('1'), variant('3')] }, { variants, slug: 'cup' })).toEqual({
    skus: ['other', 'sku-2'],
    slugs: ['cup'],
  })
  expect(claimed({}, { variants: [variant('2', { sku: 'sku-1' })] }).skus).toEqual([])
  expect(claimed({}, { variants: [variant('1'), variant('2', { sku: 'sku-1' })] }).skus).toEqual(['sku-1'])
  expect(claimedBy({ before: undefined, after: product() })).toEqual({ skus: ['sku-1'], slugs: ['mug'] })
})

it('replaces variants only where others come in their place', () => {
  const both = [variant('1'), variant('2')]
  expect(between({ variants: both }, { variants: [variant('2')] })).toMatchObject({
    removedVariants: ['1'],
    replacedVariants: [],
  })
  expect(between({ variants: both }, { variants: [variant('3')] })).toMatchObject({
    removedVariants: [],
    replacedVariants: ['1', '2'],
    newVariants: [{ id: '3', nth: 1, isFirst: false }],
  })
})

it('writes a set of tags whole when it or its order changes, and not at all when neither does', () => {
  const tags = [tag('a'), tag('b')]
  expect(between({ tags }, { tags: [tag('a'), tag('b')] }).tags).toEqual({ set: [], removed: [] })
  expect(between({ tags }, { tags: [tag('b'), tag('c')] }).tags).toEqual({
    set: [
      { product: 'p', id: 'b', position: 1 },
      { product: 'p', id: 'c', position: 2 },
    ],
    removed: [{ product: 'p', id: 'a' }],
  })
})

it('adds the values that an option did not have', () => {
  const option = (...values: string[]) => [{ id: 'o', name: 'Size', values }]
  expect(between({ options: option('S') }, { options: option('S', 'M') }).options.set).toEqual([
    { product: 'p', id: 'o', position: 1, values: ['S', 'M'], added: ['M'] },
  ])
  expect(between({ options: option('S') }, { options: option('S') }).options.set).toEqual([])
})
