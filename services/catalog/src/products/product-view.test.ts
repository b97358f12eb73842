import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import { expect, it } from 'vitest'
import { type ProductRecord, productBody } from './product-view.ts'

it.each([
  [[2, 3], 5],
  [[Number.MAX_SAFE_INTEGER, 1], Number.MAX_SAFE_INTEGER],
  [[Number.MIN_SAFE_INTEGER, -1], Number.MIN_SAFE_INTEGER],
])(
  'of variants with the stock %j shows the total %i: orders may bring the sum beyond ±(2^53−1) (OP-07)',
  (stocks, total) => {
    const variants = stocks.map((stock, index) => ({ ...VARIANT.initial, id: `${index}`, stock, attributes: {} }))
    const blank = { ...PRODUCT.initial, createdAt: new Date(0), updatedAt: new Date(0) }
    const product = { ...blank, variants, categories: [], tags: [], options: [], media: [] } as unknown as ProductRecord
    expect(productBody(product).total_stock).toBe(total)
  },
)
