import type { AnySql } from '@backoffice/postgres/database.ts'

/** Something that must not be. Numbers are text, because a wrong sum may exceed the range of a number. */
export interface Finding {
  readonly finding: string
  readonly workspace: string
  /** It may be a change that is under way. A later check decides. */
  readonly tooYoung?: boolean
  readonly [member: string]: unknown
}

const BATCH_SIZE = 1000

/** The rows of a statement, read in batches. */
export async function* streamed<Row>(cursor: { cursor(size: number): AsyncIterable<Row[]> }): AsyncGenerator<Row> {
  for await (const batch of cursor.cursor(BATCH_SIZE)) yield* batch
}

/**
 * Finds orders, payments, invoices and fulfilments that contradict each other. PostgreSQL compares within its
 * `work_mem`. The connection has to see all workspaces.
 */
export async function* orderFindings(sql: AnySql): AsyncGenerator<Finding> {
  yield* streamed(wrongSums(sql))
  yield* streamed(wrongPayments(sql))
  yield* streamed(unplacedOrders(sql))
  yield* streamed(wrongInvoices(sql))
  yield* streamed(wrongInvoiceNumbers(sql))
  yield* streamed(wrongFulfilledQuantities(sql))
  yield* streamed(wrongFulfillmentStatuses(sql))
}

/** The subtotal is the sum of the items, the total follows, and `total_items` is the sum of the quantities (OP-41). */
const wrongSums = (sql: AnySql) => sql<Finding[]>`
  select 'sums' as finding, workspace_id as workspace, id as order, subtotal_price::text as "subtotalPrice",
    subtotal::text as "sumOfItems", total_price::text as "totalPrice",
    (subtotal_price + total_shipping + total_tax - total_discount)::text as "sumOfParts",
    total_items::text as "totalItems", quantities::text as "sumOfQuantities"
  from sales_order
  left join (
    select workspace_id, order_id as id, sum(total_price) as subtotal, sum(quantity) as quantities
    from order_item group by workspace_id, order_id
  ) as items using (workspace_id, id)
  where subtotal_price is distinct from subtotal or total_items is distinct from quantities
    or total_price <> subtotal_price + total_shipping + total_tax - total_discount`

/** The payments add up to `paid`, and the payment status follows from it (OP-41, OP-42, OP-47). */
const wrongPayments = (sql: AnySql) => sql<Finding[]>`
  select 'payments' as finding, workspace_id as workspace, id as order, paid::text, coalesce(amount, 0)::text as "sumOfPayments",
    total_price::text as "totalPrice", payment_status as "paymentStatus"
  from sales_order
  left join (
    select workspace_id, order_id as id, sum(amount) as amount from payment group by workspace_id, order_id
  ) as payments using (workspace_id, id)
  where paid <> coalesce(amount, 0) or case
    when paid > 0 and paid < total_price then payment_status <> 'PARTIALLY_PAID'
    when paid > 0 then payment_status not in ('PAID', 'REFUNDED')
    when total_price > 0 then payment_status <> 'UNPAID'
    when status = 'CART' then payment_status <> 'UNPAID'
    when status = 'CANCELLED' then payment_status not in ('UNPAID', 'PAID') -- it may have been placed before
    else payment_status <> 'PAID'
  end`

/** A paid order is placed within a minute, or its stock was refused and the merchant has to resolve it (OP-47). */
const unplacedOrders = (sql: AnySql) => sql<Finding[]>`
  select 'paid order at CART' as finding, workspace_id as workspace, id as order, reason,
    updated_at > now() - interval '1 minute' and (attempts is null or next_attempt_at is not null) as "tooYoung"
  from sales_order
  left join (
    select workspace_id, order_id as id, reason, attempts, next_attempt_at from placement
  ) as placement using (workspace_id, id)
  where sales_order.status = 'CART' and payment_status = 'PAID'`

/** A placed or paid order has an invoice of its total, which is PAID with the order (OP-45). */
const wrongInvoices = (sql: AnySql) => sql<Finding[]>`
  select 'invoice' as finding, workspace_id as workspace, id as order, sales_order.status, payment_status as "paymentStatus",
    total_price::text as "totalPrice", invoice.total::text as "invoiceTotal", invoice.status as "invoiceStatus"
  from sales_order
  left join (select workspace_id, order_id as id, total, status from invoice) as invoice using (workspace_id, id)
  where case
    when invoice.id is null then sales_order.status in ('PLACED', 'COMPLETED') or payment_status in ('PAID', 'REFUNDED')
    else invoice.total <> total_price or (invoice.status = 'PAID') <> (payment_status in ('PAID', 'REFUNDED'))
  end`

/** The numbers of a workspace's invoices are 1, 2, 3, … up to its counter (OP-45). They are unique by a constraint. */
const wrongInvoiceNumbers = (sql: AnySql) => sql<Finding[]>`
  select 'invoice numbers' as finding, workspace_id as workspace, coalesce(last, 0)::text as counter,
    coalesce(invoices, 0)::text as invoices, lowest::text, highest::text
  from invoice_counter
  full join (
    select workspace_id, count(*) as invoices, min(number) as lowest, max(number) as highest from invoice group by workspace_id
  ) as numbers using (workspace_id)
  where coalesce(last, 0) <> coalesce(invoices, 0) or highest <> invoices or lowest <> 1`

/** The fulfilled quantity of an item is the sum of its fulfilments (OP-48). */
const wrongFulfilledQuantities = (sql: AnySql) => sql<Finding[]>`
  select 'fulfilled quantity' as finding, workspace_id as workspace, order_id as order, id as item,
    coalesce(fulfilled, 0)::text as fulfilled, coalesce(quantity, 0)::text as "sumOfFulfilments"
  from (select workspace_id, order_id, id, fulfilled from order_item) as item
  full join (
    select workspace_id, order_id, (sent ->> 'id')::uuid as id, sum((sent ->> 'quantity')::bigint) as quantity
    from fulfillment, json_array_elements(items) as sent
    group by workspace_id, order_id, sent ->> 'id'
  ) as fulfilments using (workspace_id, order_id, id)
  where coalesce(fulfilled, 0) <> coalesce(quantity, 0)`

/** The fulfilment status follows from the fulfilled quantities (OP-48). */
const wrongFulfillmentStatuses = (sql: AnySql) => sql<Finding[]>`
  select 'fulfilment status' as finding, workspace_id as workspace, id as order, fulfillment_status as "fulfillmentStatus",
    expected
  from sales_order
  join (
    select workspace_id, order_id as id, case
      when bool_and(fulfilled = 0) then 'UNFULFILLED' when bool_and(fulfilled = quantity) then 'FULFILLED'
      else 'PARTIALLY_FULFILLED'
    end as expected
    from order_item group by workspace_id, order_id
  ) as items using (workspace_id, id)
  where fulfillment_status <> expected`
