import { notFound } from '@backoffice/contracts/errors.ts'
import { type RecordType, TOPICS } from '@backoffice/contracts/events.ts'
import type { FulfillmentStatus, Order, OrderStatus, PaymentStatus } from '@backoffice/contracts/order.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'

/** A line of an order, with what catalog had when it was ordered. Amounts are in minor units. */
export interface ItemRecord {
  readonly id: string
  readonly variant: string
  readonly title: string
  readonly sku: string
  readonly quantity: number
  readonly unitPrice: number
  readonly negotiatedUnitPrice: number | null
  readonly totalPrice: number
  /** The quantity in fulfilments. */
  readonly fulfilled: number
}

/** An order as the database has it. Amounts are in minor units of the currency. */
export interface OrderRecord {
  readonly id: string
  readonly orderNumber: string
  readonly status: OrderStatus
  readonly paymentStatus: PaymentStatus
  readonly fulfillmentStatus: FulfillmentStatus
  readonly salesChannel: string | null
  readonly currency: string
  readonly customer: { readonly id: string; readonly name: string; readonly email: string | null } | null
  readonly items: readonly ItemRecord[]
  readonly subtotalPrice: number
  readonly totalShipping: number
  readonly totalTax: number
  readonly totalDiscount: number
  readonly totalPrice: number
  readonly totalItems: number
  /** The sum of its payments. */
  readonly paid: number
  readonly shippingAddress: Record<string, unknown> | null
  readonly note: string | null
  readonly orderDatetime: Date
  /** A day: `2026-03-01`. */
  readonly promiseDate: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The order body (spec: Order). */
export const orderBody = (order: OrderRecord): Order => ({
  id: order.id,
  order_number: order.orderNumber,
  status: order.status,
  payment_status: order.paymentStatus,
  fulfillment_status: order.fulfillmentStatus,
  sales_channel: order.salesChannel,
  currency: order.currency,
  customer: order.customer && { ...order.customer },
  items: order.items.map((item) => ({
    id: item.id,
    title: item.title,
    sku: item.sku,
    quantity: item.quantity,
    unit_price: item.unitPrice,
    negotiated_unit_price: item.negotiatedUnitPrice,
    total_price: item.totalPrice,
  })),
  subtotal_price: order.subtotalPrice,
  total_shipping: order.totalShipping,
  total_tax: order.totalTax,
  total_discount: order.totalDiscount,
  total_price: order.totalPrice,
  total_items: order.totalItems,
  shipping_address: order.shippingAddress,
  note: order.note,
  order_datetime: order.orderDatetime.toISOString(),
  promise_date: order.promiseDate,
})

/** An event about an order, with its body as it is now (OP-67). */
export const orderEvent = (
  type: Extract<RecordType<'orders.events'>, `order.${string}`>,
  order: OrderRecord,
): OutboxRecord => outboxRecord(TOPICS.ordersEvents, type, order.id, orderBody(order))

/** The name of a customer in an order: first and last name. */
export const customerName = (firstname: string, lastname: string | null): string =>
  lastname === null ? firstname : `${firstname} ${lastname}`

/**
 * The columns of an OrderRecord, to be selected from `sales_order`. The customer is read as it is now: an order has no copy of
 * personal data, but for its address and note.
 */
export const orderColumns = (sql: AnySql) => sql`
  sales_order.id, order_number as "orderNumber", status, payment_status as "paymentStatus",
  fulfillment_status as "fulfillmentStatus", sales_channel as "salesChannel", currency,
  (
    select json_build_object('id', customer.id, 'name', concat_ws(' ', firstname, lastname), 'email', email)
    from customer where customer.workspace_id = sales_order.workspace_id and customer.id = customer_id
  ) as customer,
  (
    select json_agg(json_build_object(
      'id', item.id, 'variant', variant_id, 'title', title, 'sku', sku, 'quantity', quantity, 'unitPrice', unit_price,
      'negotiatedUnitPrice', negotiated_unit_price, 'totalPrice', item.total_price, 'fulfilled', fulfilled
    ) order by position)
    from order_item item where item.workspace_id = sales_order.workspace_id and item.order_id = sales_order.id
  ) as items,
  subtotal_price as "subtotalPrice", total_shipping as "totalShipping", total_tax as "totalTax",
  total_discount as "totalDiscount", total_price as "totalPrice", total_items as "totalItems", paid,
  shipping_address as "shippingAddress", note, order_datetime as "orderDatetime", promise_date::text as "promiseDate",
  created_at as "createdAt", updated_at as "updatedAt"`

/** Reads an order. Throws `not_found`. */
export async function readOrder(tx: Transaction, id: string): Promise<OrderRecord> {
  const [order] = await tx<OrderRecord[]>`
    select ${orderColumns(tx)} from sales_order where workspace_id = ${tx.context.workspaceId} and sales_order.id = ${id}`
  if (order === undefined) throw noSuchOrder(id)
  return order
}

/**
 * Locks an order until the transaction ends, and reads it as the last change left it: two statements, because the first one's
 * snapshot may be older than its lock. Throws `not_found`.
 */
export async function lockOrder(tx: Transaction, id: string): Promise<OrderRecord> {
  const locked = await tx`
    select from sales_order where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  if (locked.length === 0) throw noSuchOrder(id)
  return readOrder(tx, id)
}

export const noSuchOrder = (id: string) => notFound(['id'], `this workspace has no order ${id}`)
