import { randomUUID } from 'node:crypto'

/** A valid SIMPLE product with a new SKU. */
export const aProduct = (differences: Record<string, unknown> = {}) => ({
  name: 'Mug',
  type: 'SIMPLE_PRODUCT',
  sku: randomUUID(),
  stock: 4,
  price: { NGN: 450_000 },
  ...differences,
})
