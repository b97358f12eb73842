import { randomUUID } from 'node:crypto'

/** The body of a create: SIMPLE for no variants, else VARIABLE with that many. All SKUs are new. */
export function aProduct(variants: number) {
  const id = randomUUID()
  if (variants === 0) {
    return { name: `Simple ${id}`, type: 'SIMPLE_PRODUCT', sku: id, stock: 4, price: { NGN: 450_000, USD: 300 } }
  }
  const values = Array.from({ length: variants }, (_, index) => `value ${index}`)
  return {
    name: `Variable ${id}`,
    type: 'VARIABLE_PRODUCT',
    options: [{ name: 'Kind', values }],
    variants: values.map((value, index) => ({
      sku: `${id}-${index}`,
      attributes: { Kind: value },
      price: { NGN: 450_000 + index, USD: 300 },
      cost: { NGN: 200_000 },
      stock: index,
    })),
  }
}
