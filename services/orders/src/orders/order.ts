import { notFound } from '@backoffice/contracts/errors.ts'
import { type RecordType, TOPICS } from '@backoffice/contracts/events.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { ORDER, ORDER_ITEM, type Order } from '@backoffice/contracts/order.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { readSized, theseInOrder, type WantedRows } from '@backoffice/postgres/lists/sized-rows.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'

/** A line of an order. */
export type ItemRecord = RecordOf<typeof ORDER_ITEM>

/** An order as the database has it. */
export interface OrderRecord extends RecordOf<typeof ORDER> {
  readonly customer: Order['customer']
  readonly items: readonly ItemRecord[]
}

/** The order body (spec: Order). */
export const orderBody = (order: OrderRecord): Order =>
  ORDER.answerOf(order, { customer: order.customer, items: order.items.map((item) => ORDER_ITEM.answerOf(item)) })

/** An event about an order, with its body as it is now (OP-67), at the time of its last change. */
export const orderEvent = (
  type: Extract<RecordType<'orders.events'>, `order.${string}`>,
  order: OrderRecord,
): OutboxRecord => outboxRecord(TOPICS.ordersEvents, type, order.id, orderBody(order), order.updatedAt)

/** The name of a customer in an order: first and last name. */
export const customerName = (firstname: string, lastname: string | null): string =>
  lastname === null ? firstname : `${firstname} ${lastname}`

/**
 * The columns of an OrderRecord, to be selected from `sales_order`. The customer is read as it is now: an order has no
 * copy of personal data, but for its address and note.
 */
const orderColumns = (sql: AnySql) => sql`
  ${sql.unsafe(ORDER.sql.selected)},
  (
    select json_build_object('id', customer.id, 'name', concat_ws(' ', firstname, lastname), 'email', email)
    from customer where customer.workspace_id = sales_order.workspace_id and customer.id = customer_id
  ) as customer,
  (
    select json_agg(json_build_object(${sql.unsafe(ORDER_ITEM.sql.object)}) order by position)
    from order_item where order_item.workspace_id = sales_order.workspace_id and order_id = sales_order.id
  ) as items`

/** About the bytes of an item, beside its texts. */
const ITEM_BYTES = 200
/**
 * The texts of these items stand for those of all: an order may have a thousand. Constants in the statement, so that
 * its plan is kept (decision 010).
 */
const SAMPLED = [0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 999].join()

/** Reads orders. */
export const readOrders = (tx: Transaction, wanted: WantedRows): Promise<OrderRecord[]> =>
  readSized<OrderRecord>(tx, {
    ...wanted,
    columns: orderColumns(tx),
    source: tx`from sales_order where workspace_id = ${tx.context.workspaceId}`,
    bytes: tx`
      octet_length(coalesce(shipping_address::text, '')) + octet_length(coalesce(note, '')) + (
        select max(position) + 1 from order_item
        where order_item.workspace_id = sales_order.workspace_id and order_id = sales_order.id
      ) * (
        select avg(octet_length(title) + octet_length(sku)) + ${ITEM_BYTES} from order_item
        where order_item.workspace_id = sales_order.workspace_id and order_id = sales_order.id
          and position in (${tx.unsafe(SAMPLED)})
      )`,
  })

/** Reads an order. Throws `not_found`. */
export async function readOrder(tx: Transaction, id: string): Promise<OrderRecord> {
  const [order] = await readOrders(tx, theseInOrder(tx, [id]))
  if (order === undefined) throw noSuchOrder(id)
  return order
}

/**
 * Locks an order until the transaction ends, and reads it as the last change left it: two statements, because the first
 * one's snapshot may be older than its lock. They are sent together, the lock first. Throws `not_found`.
 */
export async function lockOrder(tx: Transaction, id: string): Promise<OrderRecord> {
  const locked = tx`
    select from sales_order where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`.execute()
  const [order, { length }] = await Promise.all([readOrder(tx, id), locked])
  if (length === 0) throw noSuchOrder(id)
  return order
}

export const noSuchOrder = (id: string) => notFound(['id'], `this workspace has no order ${id}`)
