import { conflict } from '@backoffice/contracts/errors.ts'
import type { FulfillmentStatus, OrderStatus, PaymentStatus } from '@backoffice/contracts/order.ts'
import type { ItemRecord, OrderRecord } from './order.ts'

/** The statuses that an order can have next (OP-48). */
const NEXT: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  CART: ['PLACED', 'CANCELLED'],
  PLACED: ['COMPLETED', 'CANCELLED'],
  COMPLETED: [],
  CANCELLED: [],
}

/** Whether an order can go from one status to another (OP-48). */
export const isLegalTransition = (from: OrderStatus, to: OrderStatus): boolean => NEXT[from].includes(to)

/**
 * Refuses an illegal transition with `conflict` (OP-48). An order that has a fulfilment cannot be cancelled, because
 * its goods have left the stock (OP-143). The present status is no transition.
 */
export function requireTransition(
  { status: from, fulfillmentStatus }: Pick<OrderRecord, 'status' | 'fulfillmentStatus'>,
  to: OrderStatus,
): void {
  if (from === to) return
  if (!isLegalTransition(from, to)) {
    const legal = NEXT[from].length === 0 ? `${from} is final` : `from ${from} it can become ${NEXT[from].join(' or ')}`
    throw conflict(['status'], `an order cannot go from ${from} to ${to}; ${legal}`)
  }
  if (to === 'CANCELLED' && fulfillmentStatus !== 'UNFULFILLED') {
    throw conflict(['status'], `an order cannot go from ${from} to ${to} while it is ${fulfillmentStatus}`)
  }
}

type PaymentState = Pick<OrderRecord, 'status' | 'paymentStatus' | 'totalPrice' | 'paid'>

/**
 * The payment status that follows from the total and the sum of the payments (OP-42). An order that was PAID or
 * REFUNDED stays so. An order with nothing to pay becomes PAID when it is placed (OP-41), or with a payment.
 */
export function paymentStatusOf({ status, paymentStatus, totalPrice, paid }: PaymentState): PaymentStatus {
  if (paymentStatus === 'PAID' || paymentStatus === 'REFUNDED') return paymentStatus
  if (paid > 0) return paid >= totalPrice ? 'PAID' : 'PARTIALLY_PAID'
  return totalPrice === 0 && status === 'PLACED' ? 'PAID' : 'UNPAID'
}

/** The fulfilment status that follows from the quantities of the items (OP-48). */
export function fulfillmentStatusOf(items: readonly Pick<ItemRecord, 'quantity' | 'fulfilled'>[]): FulfillmentStatus {
  if (items.every(({ fulfilled }) => fulfilled === 0)) return 'UNFULFILLED'
  return items.every(({ quantity, fulfilled }) => fulfilled === quantity) ? 'FULFILLED' : 'PARTIALLY_FULFILLED'
}
