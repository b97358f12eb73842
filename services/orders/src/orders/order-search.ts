import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type Condition, isAny } from '@backoffice/postgres/lists/conditions.ts'
import { allHold, matching } from '@backoffice/postgres/lists/found-page.ts'
import { listedCustomers, searchedBy } from '../customers/customer-filters.ts'
import type { OrderFilters } from './order-filters.ts'

/** At most so many orders of a search are counted (OP-219). */
export const MOST_COUNTED = 10_000

/** The conditions of `sku` and `query`; the one to be searched by comes first. Sends a statement for `query`. */
export async function searches(tx: Transaction, { sku, query }: OrderFilters): Promise<Condition[]> {
  return [...(sku === undefined ? [] : [hasSku(tx, sku)]), ...(query === undefined ? [] : [await isFound(tx, query)])]
}

/** An item has this SKU. Not by `exists`, which PostgreSQL may answer from all items of the SKU. */
function hasSku(tx: Transaction, sku: string): Condition {
  const items = tx`order_item where workspace_id = ${tx.context.workspaceId} and sku = ${sku}`
  // Sorted, so that PostgreSQL reads no more of the index than is wanted.
  const sorted = (way: SqlPart) => tx`select distinct order_id as id from ${items} order by order_id ${way}`
  return {
    ids: sorted(tx``),
    holds: tx`(select true from ${items} and order_id = sales_order.id limit 1)`,
    ordered: { by: ['id'], rows: sorted },
  }
}

/** The order has this number, or the search finds its customer (OP-132). */
async function isFound(tx: Transaction, query: string): Promise<Condition> {
  const workspace = tx.context.workspaceId
  const list = listedCustomers(tx)
  const [first = isAny(tx, list), ...others] = await searchedBy(tx, query)
  const number = query.trim().toUpperCase()
  const numbered = tx`select id from sales_order where workspace_id = ${workspace} and order_number = ${number}`
  return {
    // Not flattened, so that the orders of each customer are found by their index.
    ids: tx`
      ${numbered} union all
      select sales_order.id from (${matching(tx, list, [first, ...others])}) as customer cross join lateral (
        select id from sales_order
        where workspace_id = ${workspace} and customer_id = customer.id and id is distinct from (${numbered})
        offset 0
      ) as sales_order`,
    holds: tx`(order_number = ${number} or (
      select ${allHold(tx, [first, ...others])} from customer
      where workspace_id = ${workspace} and id = sales_order.customer_id
    ))`,
    ...(first.items !== undefined && { items: first.items }),
  }
}
