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
  if (becomesPaid) await publish(tx, [...written, ...paidEvents(before, after, issued)], now)
  return after
}

/**
 * The events of an order that becomes PAID, unless it was PAID before its refunds: its invoice says so. A CANCELLED
 * order may have no invoice (OP-145). A PAID order leaves that status only when all that was paid is refunded. So an
 * order without an invoice counts as PAID before when its refunds are at least its total.
 */
function paidEvents(before: OrderRecord, after: OrderRecord, issued: IssuedInvoice | undefined): OutboxRecord[] {
  if (issued === undefined) {
    const wasPaid = before.refunded > 0 && before.refunded >= before.totalPrice
    return wasPaid ? [] : [orderEvent('order.paid', after)]
  }
  return issued.becomesPaid ? [orderEvent('order.paid', after), invoicePaid(issued.invoice)] : []
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
