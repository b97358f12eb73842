import type { Transaction } from '@backoffice/postgres/database.ts'
import { refreshRequests } from '../products/refresh-products.ts'

/**
 * Moves locked products to another category, and requests their product.updated (OP-37, OP-38). The target takes the
 * category's position; a product with both keeps the target, at the lower of the two.
 */
export const moveProducts = (tx: Transaction, products: readonly string[], from: string, to: string) => {
  const workspace = tx.context.workspaceId
  return tx`
    with membership as materialized (
      select former.product_id, former.position, kept.position as target_position
      from product_category former
      left join product_category kept
        on kept.workspace_id = ${workspace} and kept.category_id = ${to} and kept.product_id = former.product_id
      where former.workspace_id = ${workspace} and former.category_id = ${from}
        and former.product_id = any(${products as string[]}::uuid[])
    ), raised as (
      update product_category set position = membership.position
      from membership
      where product_category.workspace_id = ${workspace} and product_category.category_id = ${to}
        and product_category.product_id = membership.product_id and membership.position < membership.target_position
    ), dropped as (
      delete from product_category using membership
      where product_category.workspace_id = ${workspace} and product_category.category_id = ${from}
        and product_category.product_id = membership.product_id and membership.target_position is not null
    ), moved as (
      update product_category set category_id = ${to}
      from membership
      where product_category.workspace_id = ${workspace} and product_category.category_id = ${from}
        and product_category.product_id = membership.product_id and membership.target_position is null
    ), requested as (
      select product_id, true as is_change from membership
    )
    ${refreshRequests(tx)}`
}
