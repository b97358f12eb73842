import { ORDER, ORDER_ITEM } from '@backoffice/contracts/order.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { ItemRecord, OrderRecord } from './order.ts'

/** Inserts an order, its items and the form as sent, in one statement. A taken number violates its constraint. */
export async function insertOrder(tx: Transaction, order: OrderRecord, form: unknown): Promise<void> {
  const workspace = tx.context.workspaceId
  await tx`
    with new_order as (
      insert into sales_order (workspace_id, customer_id, ${tx.unsafe(ORDER.sql.columns)})
      select ${workspace}, ${order.customer?.id ?? null}::uuid, ${tx.unsafe(ORDER.sql.members)} from ${asRow(tx, order)}
    ), new_item as (
      ${newItems(tx, order.id, order.items)}
    )
    insert into order_form (workspace_id, order_id, form)
    values (${workspace}, ${order.id}, ${JSON.stringify(form)}::text::json)`
}

const newItems = (tx: Transaction, order: string, items: readonly ItemRecord[]) => tx`
  insert into order_item (workspace_id, order_id, position, ${tx.unsafe(ORDER_ITEM.sql.columns)})
  select ${tx.context.workspaceId}, ${order}, position, ${tx.unsafe(ORDER_ITEM.sql.members)}
  from json_to_recordset(${JSON.stringify(items.map((item, position) => ({ ...item, position })))}::text::json) as row (
    position integer, ${tx.unsafe(ORDER_ITEM.sql.row)}
  )`

/** Replaces all items of an order. The caller has locked it. */
export async function replaceItems(tx: Transaction, order: string, items: readonly ItemRecord[]): Promise<void> {
  await tx`delete from order_item where workspace_id = ${tx.context.workspaceId} and order_id = ${order}`
  await newItems(tx, order, items)
}

/**
 * Gives an order another customer, or none, and notes the former one, by whom an erasure finds the form as submitted.
 * The caller has locked the order and its new customer.
 */
export async function writeCustomer(tx: Transaction, order: string, customer: string | undefined): Promise<void> {
  const isReplaced = tx`
    workspace_id = ${tx.context.workspaceId} and id = ${order} and customer_id is distinct from ${customer ?? null}::uuid`
  await tx`
    with former as (
      insert into former_customer (workspace_id, customer_id, order_id)
      select workspace_id, customer_id, id from sales_order where ${isReplaced} and customer_id is not null
      on conflict do nothing
    )
    update sales_order set customer_id = ${customer ?? null}::uuid where ${isReplaced}`
}

/** What requests change, and what follows from it. */
const CHANGED = ORDER.sql.assignments([
  ...ORDER.updated,
  'paymentStatus',
  'fulfillmentStatus',
  'paid',
  'refunded',
  'subtotalPrice',
  'totalShipping',
  'totalTax',
  'totalDiscount',
  'totalPrice',
  'totalItems',
  'pricedAt',
  'updatedAt',
])

/** Writes the members of an order that change. The caller has locked it. */
export async function writeOrder(tx: Transaction, order: OrderRecord): Promise<void> {
  await tx`
    update sales_order set ${tx.unsafe(CHANGED)} from ${asRow(tx, order)}
    where sales_order.workspace_id = ${tx.context.workspaceId} and sales_order.id = ${order.id}`
}

const asRow = (tx: Transaction, order: OrderRecord) => tx`
  json_to_recordset(${JSON.stringify([ORDER.row(order)])}::text::json) as row (${tx.unsafe(ORDER.sql.row)})`
