import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { operations } from '../../operations.ts'
import { aSimpleProduct, aVariableProduct } from '../../products/testing/product-samples.ts'

export type Variant = Product['variants'][number]

/** A valid variant of the option Size with a SKU of its own. */
export const aVariant = (size: string, differences: Record<string, unknown> = {}) => ({
  sku: randomUUID(),
  attributes: { Size: size },
  stock: 3,
  ...differences,
})

/** A new product as its variants' operations address it. */
export interface ProductUnderTest {
  readonly caller: Caller
  readonly product: Product
  /** `/v1/products/{id}/variants` */
  readonly variants: string
  /** The path of the variant at this index. */
  variant(index: number): string
}

/** The catalog over a database of the calling test file. `clock` may be set by the test. */
export async function catalogUnderTest(clock?: () => Date) {
  const { admin, db, takeStatements } = await testDatabase('catalog')
  // Only uploads use what is left out.
  const send = serviceClient(db, operations({} as never), clock)

  const newProduct = async (body: unknown = aVariableProduct(), caller = aCaller()): Promise<ProductUnderTest> => {
    const { body: product } = await send<Product>(caller, 'POST', '/v1/products', body)
    const variants = `/v1/products/${product.id}/variants`
    return { caller, product, variants, variant: (index) => `${variants}/${product.variants[index]?.id}` }
  }

  return {
    admin,
    db,
    send,
    takeStatements,
    newProduct,
    /** A VARIABLE product that was SIMPLE: without options and variants (OP-16). */
    async newProductWithoutOptions(caller = aCaller()) {
      const made = await newProduct(aSimpleProduct(), caller)
      await send(caller, 'PUT', `/v1/products/${made.product.id}`, { type: 'VARIABLE_PRODUCT' })
      return made
    },
    async read({ caller, product }: ProductUnderTest): Promise<Product> {
      const { body } = await send<Product>(caller, 'GET', `/v1/products/${product.id}`)
      return body
    },
    /** What was told of the product, oldest first. */
    told: ({ product }: ProductUnderTest) =>
      admin<{ topic: string; type: string; payload: Product & { version?: number } }[]>`
        select topic, type, payload from outbox where key = ${product.id} order by id`,
    /** The product's movements of stock, oldest first. */
    movements: ({ product }: ProductUnderTest) =>
      admin<{ variant_id: string; reason: string; delta: number; actor: string }[]>`
        select variant_id, reason, delta::int, actor from stock_movement where product_id = ${product.id} order by id`,
    /** Variants whose stock is not the sum of their movements, and movements of none that do not add up to 0. */
    unexplainedStock: () => admin`
      select variant_id from stock_movement left join variant on variant.id = variant_id
      group by variant_id having sum(delta) <> coalesce(max(stock), 0)`,
  }
}
