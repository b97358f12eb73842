import type { Transaction } from '@backoffice/postgres/database.ts'
import { noSuchProduct } from './get-product.ts'
import type { ProductRecord } from './product-view.ts'
import { readProducts } from './read-products.ts'

/**
 * Which variants are locked with their product: all, one by its id, or none. Orders take stock without a lock on the product, so a
 * change that compares, sets or moves a variant's stock locks the variant.
 */
export type LockedVariants = 'ALL' | 'NONE' | { readonly id: string }

/** Locks a product until the transaction ends, so that its changes follow each other, and reads it. Throws `not_found`. */
export async function lockProduct(tx: Transaction, id: string, variants: LockedVariants): Promise<ProductRecord> {
  const product = await lockAndRead(tx, id, variants)
  if (product === undefined) throw noSuchProduct(id)
  return product
}

/**
 * As `lockProduct`, but undefined when the workspace has no such product: for callers that run it beside other statements, all of
 * which must end before the transaction fails. The product is read in a second statement, whose snapshot is later than the lock.
 */
export async function lockAndRead(
  tx: Transaction,
  id: string,
  variants: LockedVariants,
): Promise<ProductRecord | undefined> {
  const workspace = tx.context.workspaceId
  const lock = tx`select id from product where workspace_id = ${workspace} and id = ${id} for no key update`
  const lockWithVariants = () => tx`
    with locked as materialized (${lock}), locked_variant as materialized (
      select variant.id
      from locked join variant on variant.workspace_id = ${workspace} and variant.product_id = locked.id
      ${typeof variants === 'object' ? tx`where variant.id = ${variants.id}` : tx``}
      for no key update of variant
    )
    select id, (select count(*) from locked_variant) from locked`
  // Sent before the read: a statement that is only awaited is sent later.
  const locked = (variants === 'NONE' ? lock : lockWithVariants()).execute()
  const [, [product]] = await Promise.all([locked, readProducts(tx, [id])])
  return product
}
