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
 * Finds orders, payments, refunds, invoices, credit notes and fulfilments that contradict each other. PostgreSQL
 * compares within its `work_mem`. The connection has to see all workspaces.
 */
export async function* orderFindings(sql: AnySql): AsyncGenerator<Finding> {
  yield* streamed(wrongSums(sql))
  yield* streamed(wrongPayments(sql))
  yield* streamed(wrongRefunds(sql))
  yield* streamed(unplacedOrders(sql))
  yield* streamed(wrongInvoices(sql))
  yield* streamed(wrongCreditNotes(sql))
  yield* streamed(wrongNumbers(sql, 'invoice'))
  yield* streamed(wrongNumbers(sql, 'credit_note'))
  yield* streamed(wrongFulfilledQuantities(sql))
  yield* streamed(wrongFulfillmentStatuses(sql))
  yield* streamed(unsentItems(sql))
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

/** The payments add up to `paid`; the payment status follows from it and `refunded` (OP-41, OP-42, OP-47, OP-202). */
const wrongPayments = (sql: AnySql) => sql<Finding[]>`
  select 'payments' as finding, workspace_id as workspace, id as order, paid::text, coalesce(amount, 0)::text as "sumOfPayments",
    refunded::text, total_price::text as "totalPrice", payment_status as "paymentStatus"
  from sales_order
  left join (
    select workspace_id, order_id as id, sum(amount) as amount from payment group by workspace_id, order_id
  ) as payments using (workspace_id, id)
  where paid <> coalesce(amount, 0) or case
    when paid > 0 and refunded = paid then payment_status <> 'REFUNDED'
    when paid > 0 and paid - refunded >= total_price then payment_status <> 'PAID'
    when refunded > 0 then payment_status not in ('PAID', 'PARTIALLY_PAID') -- it may have been PAID before
    when paid > 0 then payment_status <> 'PARTIALLY_PAID'
    when total_price > 0 then payment_status <> 'UNPAID'
    when status = 'CART' then payment_status <> 'UNPAID'
    when status = 'CANCELLED' then payment_status not in ('UNPAID', 'PAID') -- it may have been placed before
    else payment_status <> 'PAID'
  end`

/** The refunds add up to `refunded`, and those of a payment to no more than the payment (OP-201). */
const wrongRefunds = (sql: AnySql) => sql<Finding[]>`
  select 'refunds' as finding, workspace_id as workspace, id as order, refunded::text, coalesce(amount, 0)::text as "sumOfRefunds",
    coalesce("isAbovePayment", false) as "isAbovePayment"
  from sales_order
  left join (
    select workspace_id, order_id as id, sum(amount) as amount from refund group by workspace_id, order_id
  ) as refunds using (workspace_id, id)
  left join (
    select workspace_id, order_id as id, true as "isAbovePayment"
    from (
      select workspace_id, order_id, payment_id as id, sum(amount) as given from refund
      where payment_id is not null group by workspace_id, order_id, payment_id
    ) as given
    left join (select workspace_id, order_id, id, amount from payment) as payment using (workspace_id, order_id, id)
    where given > coalesce(amount, 0)
    group by workspace_id, order_id
  ) as above using (workspace_id, id)
  where refunded <> coalesce(amount, 0) or "isAbovePayment"`

/** A paid order is placed within a minute, or its stock was refused and the merchant has to resolve it (OP-47). */
const unplacedOrders = (sql: AnySql) => sql<Finding[]>`
  select 'paid order at CART' as finding, workspace_id as workspace, id as order, reason,
    updated_at between now() - interval '1 minute' and now() + interval '1 minute'
      and (attempts is null or next_attempt_at is not null) as "tooYoung"
  from sales_order
  left join (
    select workspace_id, order_id as id, reason, attempts, next_attempt_at from placement
  ) as placement using (workspace_id, id)
  where sales_order.status = 'CART' and payment_status = 'PAID'`

/**
 * A placed or paid order has an invoice of its total before reductions (OP-45, OP-209), which is PAID with the order.
 * One that was paid at CANCELLED has none (OP-145). An invoice stays PAID when the payments are refunded (OP-202).
 */
const wrongInvoices = (sql: AnySql) => sql<Finding[]>`
  select 'invoice' as finding, workspace_id as workspace, id as order, sales_order.status, payment_status as "paymentStatus",
    total_price::text as "totalPrice", invoice.total::text as "invoiceTotal", invoice.status as "invoiceStatus"
  from sales_order
  left join (select workspace_id, order_id as id, total, status from invoice) as invoice using (workspace_id, id)
  left join (
    select workspace_id, order_id as id, sum(amount) as amount
    from (
      select workspace_id, order_id, amount from cancellation
      union all
      select workspace_id, order_id, amount from goods_return
    ) as part
    group by workspace_id, order_id
  ) as reduction using (workspace_id, id)
  where case
    when invoice.id is null then
      sales_order.status in ('PLACED', 'COMPLETED') or payment_status = 'PAID' and sales_order.status <> 'CANCELLED'
    when invoice.status = 'PAID' then payment_status <> 'PAID' and refunded = 0
    else payment_status = 'PAID'
  end or invoice.total <> total_price + coalesce(reduction.amount, 0)`

/**
 * A credit note is of no more than its refund, and those of an order come to no more than its invoice. Those of a PAID
 * one come to what was refunded since it was, but for what had been kept beyond it by then or was paid afterwards
 * (OP-203). Times are those of requests, which one order may overtake by less than a minute.
 */
const wrongCreditNotes = (sql: AnySql) => sql<Finding[]>`
  select 'credit note' as finding, workspace_id as workspace, "order", refund, amount::text, total::text as "creditNoteTotal",
    credited::text as "sumOfCreditNotes", invoiced::text as "invoiceTotal"
  from (
    select workspace_id, order_id as order, refund, amount, credit_note.total, invoiced, invoice_status, paid,
      coalesce(sum(credit_note.total) over of_order, 0) as credited,
      coalesce(sum(amount) over of_order, 0) as refunded,
      coalesce(sum(amount) filter (where refund.created_at > settled_at + interval '1 minute') over of_order, 0) as due
    from (select workspace_id, order_id, id as refund, amount, created_at from refund) as refund
    full join (select workspace_id, order_id, refund_id as refund, total from credit_note) as credit_note
      using (workspace_id, order_id, refund)
    left join (
      select workspace_id, order_id, total as invoiced, status as invoice_status, coalesce(paid_at, created_at) as settled_at
      from invoice
    ) as invoice using (workspace_id, order_id)
    left join (select workspace_id, id as order_id, paid from sales_order) as sales_order using (workspace_id, order_id)
    window of_order as (partition by workspace_id, order_id)
  ) as noted
  where total > coalesce(amount, 0) or total is not null and invoiced is null or credited > invoiced
    or invoice_status = 'PAID' and credited < due - greatest(paid - (refunded - due) - invoiced, 0)`

/**
 * The numbers of a workspace's invoices, and of its credit notes, are 1, 2, 3, … up to their counter (OP-45, OP-203).
 * They are unique by a constraint.
 */
const wrongNumbers = (sql: AnySql, table: 'invoice' | 'credit_note') => sql<Finding[]>`
  select ${`${table.replace('_', ' ')} numbers`} as finding, workspace_id as workspace, coalesce(last, 0)::text as counter,
    coalesce(documents, 0)::text as documents, lowest::text, highest::text
  from ${sql(`${table}_counter`)}
  full join (
    select workspace_id, count(*) as documents, min(number) as lowest, max(number) as highest
    from ${sql(table)} group by workspace_id
  ) as numbers using (workspace_id)
  where coalesce(last, 0) <> coalesce(documents, 0) or highest <> documents or lowest <> 1`

/** The fulfilled quantity of an item is the sum of its fulfilments without what was returned (OP-48, OP-210). */
const wrongFulfilledQuantities = (sql: AnySql) => sql<Finding[]>`
  select 'fulfilled quantity' as finding, workspace_id as workspace, order_id as order, id as item,
    coalesce(fulfilled, 0)::text as fulfilled, coalesce(quantity, 0)::text as "sumOfFulfilments"
  from (select workspace_id, order_id, id, fulfilled from order_item) as item
  full join (
    select workspace_id, order_id, (moved ->> 'id')::uuid as id, sum(sign * (moved ->> 'quantity')::bigint) as quantity
    from (
      select workspace_id, order_id, items, 1 as sign from fulfillment
      union all
      select workspace_id, order_id, items, -1 from goods_return
    ) as movement, json_array_elements(items) as moved
    group by workspace_id, order_id, moved ->> 'id'
  ) as fulfilments using (workspace_id, order_id, id)
  where coalesce(fulfilled, 0) <> coalesce(quantity, 0)`

/** A COMPLETED order may hold stock of items that were never sent: they are to be sent or cancelled (OP-48, OP-211). */
const unsentItems = (sql: AnySql) => sql<Finding[]>`
  select 'completed order with unsent items' as finding, workspace_id as workspace, id as order, unsent::text
  from sales_order
  join (
    select workspace_id, order_id as id, sum(quantity - fulfilled) as unsent from order_item group by workspace_id, order_id
  ) as items using (workspace_id, id)
  where status = 'COMPLETED' and unsent > 0`

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
