import { ORDER, ORDER_ITEM } from '@backoffice/contracts/order.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { OrderRecord } from './order.ts'

/** Inserts an order, its items and the form as sent, in one statement. A taken number violates its constraint. */
export async function insertOrder(tx: Transaction, order: OrderRecord, form: unknown): Promise<void> {
  const workspace = tx.context.workspaceId
  const items = order.items.map((item, position) => ({ ...item, position }))
  await tx`
    with new_order as (
      insert into sales_order (workspace_id, customer_id, ${tx.unsafe(ORDER.sql.columns)})
      select ${workspace}, ${order.customer?.id ?? null}::uuid, ${tx.unsafe(ORDER.sql.members)} from ${asRow(tx, order)}
    ), new_item as (
      insert into order_item (workspace_id, order_id, position, ${tx.unsafe(ORDER_ITEM.sql.columns)})
      select ${workspace}, ${order.id}, position, ${tx.unsafe(ORDER_ITEM.sql.members)}
      from json_to_recordset(${JSON.stringify(items)}::text::json) as row (
        position integer, ${tx.unsafe(ORDER_ITEM.sql.row)}
      )
    )
    insert into order_form (workspace_id, order_id, form)
    values (${workspace}, ${order.id}, ${JSON.stringify(form)}::text::json)`
}

/** What requests change, and what follows from it. */
const CHANGED = ORDER.sql.assignments([...ORDER.updated, 'paymentStatus', 'fulfillmentStatus', 'paid', 'updatedAt'])

/** Writes the members of an order that change. The caller has locked it. */
export async function writeOrder(tx: Transaction, order: OrderRecord): Promise<void> {
  await tx`
    update sales_order set ${tx.unsafe(CHANGED)} from ${asRow(tx, order)}
    where sales_order.workspace_id = ${tx.context.workspaceId} and sales_order.id = ${order.id}`
}

const asRow = (tx: Transaction, order: OrderRecord) => tx`
  json_to_recordset(${JSON.stringify([ORDER.row(order)])}::text::json) as row (${tx.unsafe(ORDER.sql.row)})`
