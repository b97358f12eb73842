import { randomUUID } from 'node:crypto'

/** A valid SIMPLE product with a SKU of its own. */
export const aSimpleProduct = (differences: Record<string, unknown> = {}) => ({
  name: 'Mug',
  type: 'SIMPLE_PRODUCT',
  sku: randomUUID(),
  stock: 4,
  price: { NGN: 450_000 },
  cost: { NGN: 300_000 },
  ...differences,
})

/** A valid VARIABLE product in two sizes with SKUs of its own. */
export function aVariableProduct(differences: Record<string, unknown> = {}) {
  const sku = randomUUID()
  return {
    name: 'Shirt',
    type: 'VARIABLE_PRODUCT',
    options: [{ name: 'Size', values: ['S', 'M'] }],
    variants: [
      { sku: `${sku}-S`, attributes: { Size: 'S' }, price: { NGN: 500 }, cost: { NGN: 200 }, stock: 1 },
      { sku: `${sku}-M`, attributes: { Size: 'M' }, price: { NGN: 700, USD: 2 }, stock: 2 },
    ],
    ...differences,
  }
}
