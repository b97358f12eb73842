import type { Transaction } from '@backoffice/postgres/database.ts'
import { refreshRequests } from '../products/refresh-products.ts'

/** Takes a tag from locked products, and requests their product.updated (OP-37). */
export const untagProducts = (tx: Transaction, products: readonly string[], tag: string) => {
  const workspace = tx.context.workspaceId
  return tx`
    with untagged as (
      delete from product_tag
      where workspace_id = ${workspace} and tag_id = ${tag} and product_id = any(${products as string[]}::uuid[])
      returning product_id
    ), requested as (
      select product_id, true as is_change from untagged
    )
    ${refreshRequests(tx)}`
}
