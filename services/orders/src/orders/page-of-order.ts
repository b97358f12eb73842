import type { ListQuery } from '@backoffice/contracts/pagination.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { noSuchOrder } from './order.ts'

/** Reads a page of a table's rows of one order, newest first (OP-144). Throws `not_found` for an unknown order. */
export async function pageOfOrder<Row extends object>(
  tx: Transaction,
  order: string,
  query: ListQuery,
  list: { readonly table: SqlPart; readonly columns: SqlPart },
) {
  const workspace = tx.context.workspaceId
  const found = await tx`select from sales_order where workspace_id = ${workspace} and id = ${order}`
  if (found.length === 0) throw noSuchOrder(order)
  return countedPage<Row>(tx, query, {
    columns: list.columns,
    source: tx`from ${list.table} where workspace_id = ${workspace} and order_id = ${order}`,
  })
}
