import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { laterThan, type OutboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { endPlacement, notePlacement } from '../placements/placement.ts'
import { type IssuedInvoice, invoicePaid, issueInvoice } from './invoice.ts'
import { type OrderRecord, orderBody, orderEvent } from './order.ts'
import { fulfillmentStatusOf, isPaidCart, paymentStatusOf } from './order-states.ts'
import { writeOrder } from './write-order.ts'

/** What a request changes of an order. The other statuses follow from it. */
export type OrderChange = Partial<OrderRecord>

interface Writing {
  /** Published before the events of the change. */
  readonly events?: readonly OutboxRecord[]
  /** Writes the changed order. Given for a new order, which is not inserted yet. */
  readonly write?: (order: OrderRecord) => Promise<void>
}

/**
 * Writes a change of an order, and publishes order.updated when its body changes. This is the one place where an order
 * becomes PAID: then its invoice is issued and PAID, and order.paid and invoice.paid fire, each once, also when it is
 * PAID again after refunds. At CART it is to be placed, until it is not PAID any more (OP-47). An order that becomes
 * PLACED gets its invoice as well (OP-45). The caller has locked the order, has checked the transition and has written
 * the items. Call it last, because it may lock the counter of invoices.
 */
export async function changeOrder(
  tx: Transaction,
  before: OrderRecord,
  change: OrderChange,
  now: Date,
  { events = [], write = (order) => writeOrder(tx, order) }: Writing = {},
): Promise<OrderRecord> {
  const after = withChange(before, change, now)
  const hasNewBody = !isSameBody(before, after)
  const becomesPlaced = after.status === 'PLACED' && before.status !== 'PLACED'
  const becomesPaid = after.paymentStatus === 'PAID' && before.paymentStatus !== 'PAID'
  const isToBeWritten =
    hasNewBody || after.paid !== before.paid || after.refunded !== before.refunded || after.pricedAt !== before.pricedAt
  const written = [...events, ...(hasNewBody ? [orderEvent('order.updated', after)] : [])]
  // Sent one behind the other in this order, without a wait in between.
  const [, , , issued] = await Promise.all([
    isToBeWritten && write(after),
    isPaidCart(before) !== isPaidCart(after) &&
      (isPaidCart(after) ? notePlacement : endPlacement)(tx, after.id).execute(),
    !becomesPaid && publish(tx, written, now),
    becomesPlaced || becomesPaid ? issueInvoice(tx, after, now) : undefined,
  ])
  if (becomesPaid) await publish(tx, [...written, ...(await paidEvents(tx, before, after, issued))], now)
  return after
}

/**
 * The events of an order that becomes PAID, unless it was PAID before its refunds: its invoice says so, or, of a
 * CANCELLED order without one (OP-145), its payments and refunds.
 */
async function paidEvents(
  tx: Transaction,
  before: OrderRecord,
  after: OrderRecord,
  issued: IssuedInvoice | undefined,
): Promise<OutboxRecord[]> {
  if (issued === undefined) {
    const wasPaid = before.refunded > 0 && (await hadComeToTotal(tx, before))
    return wasPaid ? [] : [orderEvent('order.paid', after)]
  }
  return issued.becomesPaid ? [orderEvent('order.paid', after), invoicePaid(issued.invoice)] : []
}

/** Whether what was paid and not given back had come to the total before the newest payment. */
async function hadComeToTotal(tx: Transaction, { id, totalPrice }: OrderRecord): Promise<boolean> {
  const isOfOrder = tx`workspace_id = ${tx.context.workspaceId} and order_id = ${id}`
  const [{ most }] = await tx<[{ most: number }]>`
    select coalesce(max(kept), 0)::bigint as most
    from (
      select sum(amount) over (order by id) as kept, row_number() over (order by id desc) as place
      from (
        select id, amount from payment where ${isOfOrder}
        union all
        select id, -amount from refund where ${isOfOrder}
      ) as movement
    ) as history
    where place > 1`
  return most > 0 && most >= totalPrice
}

/** The order after a change. `updatedAt` moves with the order's body, and always goes on (OP-73, OP-79). */
export function withChange(before: OrderRecord, change: OrderChange, now: Date): OrderRecord {
  const changed = { ...before, ...change }
  const after = {
    ...changed,
    paymentStatus: paymentStatusOf(changed),
    fulfillmentStatus: fulfillmentStatusOf(changed.items),
  }
  if (isSameBody(before, after)) return after
  return { ...after, updatedAt: laterThan(before.updatedAt, now) }
}

const isSameBody = (before: OrderRecord, after: OrderRecord) => isDeepStrictEqual(orderBody(before), orderBody(after))
