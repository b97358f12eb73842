import type { Transaction } from '@backoffice/postgres/database.ts'
import { noSuchProduct } from './get-product.ts'
import { isOneOf } from './is-one-of.ts'
import type { ProductRecord } from './product-view.ts'
import { readProducts } from './read-products.ts'

/**
 * Which variants are locked with their product: all, one by its id, or none. Orders take stock without a lock on the
 * product, so a change that compares, sets or moves a variant's stock locks the variant.
 */
export type LockedVariants = 'ALL' | 'NONE' | { readonly id: string }

/** Locks a product until the transaction ends, so that changes follow each other, and reads it. Throws `not_found`. */
export async function lockProduct(tx: Transaction, id: string, variants: LockedVariants): Promise<ProductRecord> {
  const product = await lockAndRead(tx, id, variants)
  if (product === undefined) throw noSuchProduct(id)
  return product
}

/**
 * As `lockProduct`, but undefined when the workspace has no such product: for callers that run it beside other
 * statements, all of which must end before the transaction fails. Each statement has a snapshot that is later than the
 * locks of those before it.
 */
export async function lockAndRead(
  tx: Transaction,
  id: string,
  variants: LockedVariants,
): Promise<ProductRecord | undefined> {
  const lock = tx`
    select id from product where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  // `execute` sends the locks before the read: without it they would be sent when they are awaited.
  const locked = [lock.execute(), variants === 'NONE' ? undefined : lockVariants(tx, [id], variants).execute()]
  const [[product]] = await Promise.all([readProducts(tx, [id]), ...locked])
  return product
}

/**
 * Locks variants of locked products until the transaction ends, in id order across the products, since orders take
 * stock in this order and without a lock on the product.
 */
export const lockVariants = (tx: Transaction, products: readonly string[], variants: Exclude<LockedVariants, 'NONE'>) =>
  tx`
    select id from variant
    where workspace_id = ${tx.context.workspaceId} and product_id ${isOneOf(tx, products)}
      ${typeof variants === 'object' ? tx`and id = ${variants.id}` : tx``}
    order by id for no key update`
