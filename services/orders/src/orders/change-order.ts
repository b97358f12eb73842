import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { endPlacement } from '../placements/placement.ts'
import { invoicePaid, issueInvoice } from './invoice.ts'
import { type OrderRecord, orderBody, orderEvent } from './order.ts'
import { fulfillmentStatusOf, paymentStatusOf } from './order-states.ts'
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
 * becomes PAID: then its invoice is issued and PAID, and order.paid and invoice.paid fire, each once. An order that
 * becomes PLACED gets its invoice as well (OP-45). The caller has locked the order, has checked the transition and has
 * written the items. Call it last, because it may lock the counter of invoices.
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
  const isToBeWritten = hasNewBody || after.paid !== before.paid || after.pricedAt !== before.pricedAt
  if (isToBeWritten) await write(after)
  const updated = hasNewBody ? [orderEvent('order.updated', after)] : []
  const paid = becomesPaid ? [orderEvent('order.paid', after)] : []
  await publish(tx, [...events, ...updated, ...paid], now)
  if (before.paymentStatus === 'PAID' && before.status === 'CART' && after.status !== 'CART') {
    await endPlacement(tx, after.id)
  }
  if (becomesPlaced || becomesPaid) {
    const { invoice } = await issueInvoice(tx, after, now)
    if (becomesPaid) await publish(tx, [invoicePaid(invoice)], now)
  }
  return after
}

/** The order after a change. `updatedAt` moves with the order's body, and never goes back (OP-73, OP-79). */
function withChange(before: OrderRecord, change: OrderChange, now: Date): OrderRecord {
  const changed = { ...before, ...change }
  const after = {
    ...changed,
    paymentStatus: paymentStatusOf(changed),
    fulfillmentStatus: fulfillmentStatusOf(changed.items),
  }
  if (isSameBody(before, after)) return after
  return { ...after, updatedAt: new Date(Math.max(before.updatedAt.getTime(), now.getTime())) }
}

const isSameBody = (before: OrderRecord, after: OrderRecord) => isDeepStrictEqual(orderBody(before), orderBody(after))
