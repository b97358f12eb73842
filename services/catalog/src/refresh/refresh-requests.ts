import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * The part of a statement that requests a refresh of the products in its CTE `requested (product_id, is_change)`
 * (decision 017). With `is_change` product.updated fires; without it only the state for projections is published.
 */
export const refreshRequests = (tx: Transaction) => tx`
  insert into product_refresh (workspace_id, product_id, is_change, livemode, traceparent)
  select ${tx.context.workspaceId}, product_id, is_change, ${tx.context.livemode}, ${tx.context.traceparent}
  from requested order by product_id`
