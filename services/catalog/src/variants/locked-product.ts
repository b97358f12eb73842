import type { Transaction } from '@backoffice/postgres/database.ts'
import { noSuchProduct } from '../products/get-product.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { lockProducts, readProducts } from '../products/read-products.ts'

/**
 * Locks a product until the transaction ends, so that changes of its variants follow each other, and reads it as it is then.
 * Only the variants' stock may go on changing: orders take it without this lock. Throws `not_found`.
 */
export async function lockProduct(tx: Transaction, id: string): Promise<ProductRecord> {
  const [, [product]] = await Promise.all([lockProducts(tx, [id]), readProducts(tx, [id])])
  if (product === undefined) throw noSuchProduct(id)
  return product
}
