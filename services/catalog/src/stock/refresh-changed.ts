import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * The part of a statement that asks for product.updated of the products whose variants are in its CTE `changed` (OP-71), as
 * `requestRefresh` does by a statement of its own.
 */
export const refreshChanged = (tx: Transaction) => tx`
  insert into product_refresh (workspace_id, product_id, is_change, livemode, traceparent)
  select ${tx.context.workspaceId}, product_id, true, ${tx.context.livemode}, ${tx.context.traceparent}
  from (select distinct product_id from changed) as product`
