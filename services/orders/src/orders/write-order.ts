import type { Transaction } from '@backoffice/postgres/database.ts'
import type { OrderRecord } from './order.ts'

/** Inserts an order, its items and the form as it was sent, in one statement. A taken order number violates its constraint. */
export async function insertOrder(tx: Transaction, order: OrderRecord, form: unknown): Promise<void> {
  const workspace = tx.context.workspaceId
  const items = order.items.map((item, position) => ({ ...item, position }))
  await tx`
    with new_order as (
      insert into sales_order (
        workspace_id, id, order_number, status, payment_status, fulfillment_status, sales_channel, currency, customer_id,
        subtotal_price, total_shipping, total_tax, total_discount, total_price, total_items, paid, shipping_address, note,
        order_datetime, promise_date, created_at, updated_at
      ) values (
        ${workspace}, ${order.id}, ${order.orderNumber}, ${order.status}, ${order.paymentStatus},
        ${order.fulfillmentStatus}, ${order.salesChannel}, ${order.currency}, ${order.customer?.id ?? null},
        ${order.subtotalPrice}, ${order.totalShipping}, ${order.totalTax}, ${order.totalDiscount}, ${order.totalPrice},
        ${order.totalItems}, ${order.paid}, ${order.shippingAddress && JSON.stringify(order.shippingAddress)}::text::json, ${order.note},
        ${order.orderDatetime}, ${order.promiseDate}::text::date, ${order.createdAt}, ${order.updatedAt}
      )
    ), new_item as (
      insert into order_item (
        workspace_id, order_id, position, id, variant_id, title, sku, quantity, unit_price, negotiated_unit_price, total_price
      )
      select
        ${workspace}, ${order.id}, position, id, variant, title, sku, quantity, "unitPrice", "negotiatedUnitPrice",
        "totalPrice"
      from json_to_recordset(${JSON.stringify(items)}::text::json) as item (
        position integer, id uuid, variant uuid, title text, sku text, quantity bigint, "unitPrice" bigint,
        "negotiatedUnitPrice" bigint, "totalPrice" bigint
      )
    )
    insert into order_form (workspace_id, order_id, form)
    values (${workspace}, ${order.id}, ${JSON.stringify(form)}::text::json)`
}

/** Writes the members of an order that change. The caller has locked it. */
export async function writeOrder(tx: Transaction, order: OrderRecord): Promise<void> {
  await tx`
    update sales_order set
      status = ${order.status}, payment_status = ${order.paymentStatus}, fulfillment_status = ${order.fulfillmentStatus},
      paid = ${order.paid}, note = ${order.note}, promise_date = ${order.promiseDate}::text::date, updated_at = ${order.updatedAt}
    where workspace_id = ${tx.context.workspaceId} and id = ${order.id}`
}
