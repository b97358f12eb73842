import { conflict } from '@backoffice/contracts/errors.ts'
import {
  type FulfillmentStatus,
  ORDER_STATUSES,
  type OrderStatus,
  type PaymentStatus,
} from '@backoffice/contracts/order.ts'
import type { ItemRecord, OrderRecord } from './order.ts'

/** What the table asks about an order. */
interface OrderState extends Pick<OrderRecord, 'status' | 'fulfillmentStatus'> {
  readonly isInvoiced?: boolean
}

/** What has to hold of an order beside its status, in the words of the table, and what is said when it does not. */
const CONDITIONS = {
  'while nothing is fulfilled': {
    holds: ({ fulfillmentStatus }) => fulfillmentStatus === 'UNFULFILLED',
    otherwise: ({ fulfillmentStatus }) =>
      fulfillmentStatus === 'FULFILLED'
        ? 'while it is FULFILLED; record a return of what was sent'
        : `while it is ${fulfillmentStatus}; cancel the open quantities, or record a return of what was sent`,
  },
  'once it has an invoice': {
    holds: ({ isInvoiced = false }) => isInvoiced,
    otherwise: () => 'before it has an invoice; send PUT /v1/orders/{id}/cart with the lines that are wanted',
  },
  'while it has no invoice': {
    holds: ({ isInvoiced = false }) => !isInvoiced,
    otherwise: () => 'because it has an invoice; cancel quantities that are not wanted',
  },
} satisfies Record<string, { holds(order: OrderState): boolean; otherwise(order: OrderState): string }>

type Cell = 'yes' | 'no' | keyof typeof CONDITIONS

const at = (CART: Cell, PLACED: Cell, COMPLETED: Cell, CANCELLED: Cell): Readonly<Record<OrderStatus, Cell>> => ({
  CART,
  PLACED,
  COMPLETED,
  CANCELLED,
})

/** What is allowed, status by status (OP-47, OP-48, OP-201, OP-207). docs/orders.md shows it, and a test compares. */
export const ALLOWED = {
  //             CART   PLACED COMPLETED CANCELLED
  'be paid': at('yes', 'yes', 'yes', 'yes'),
  'be refunded': at('yes', 'yes', 'yes', 'yes'),
  'be placed': at('yes', 'no', 'no', 'no'),
  'be fulfilled': at('no', 'yes', 'yes', 'no'),
  'have open quantities cancelled': at('once it has an invoice', 'yes', 'yes', 'no'),
  'have goods returned': at('no', 'yes', 'yes', 'no'),
  'be cancelled': at('yes', 'while nothing is fulfilled', 'no', 'no'),
  'be completed': at('no', 'yes', 'no', 'no'),
  'get other lines, amounts or customer': at('while it has no invoice', 'no', 'no', 'no'),
  'get another address': at('yes', 'yes', 'no', 'no'),
  'get another note or promise date': at('yes', 'yes', 'yes', 'yes'),
} as const
export type Act = keyof typeof ALLOWED

/** The statuses that can allow an act. */
const allowing = (act: Act): OrderStatus[] => ORDER_STATUSES.filter((status) => ALLOWED[act][status] !== 'no')

/** Refuses with `conflict` what the table does not allow. */
export function requireAllowed(act: Act, order: OrderState): void {
  const reason = reasonAgainst(ALLOWED[act][order.status], order, `it must be ${allowing(act).join(' or ')}`)
  if (reason !== undefined) throw conflict([], `An order at ${order.status} cannot ${act}${reason}`)
}

/** The end of a refusal, with `hint` where the status alone is against it; undefined where nothing is. */
function reasonAgainst(cell: Cell, order: OrderState, hint: string): string | undefined {
  if (cell === 'yes') return undefined
  if (cell === 'no') return `; ${hint}`
  const { holds, otherwise } = CONDITIONS[cell]
  return holds(order) ? undefined : ` ${otherwise(order)}`
}

/** What moves an order to a status. Nothing moves it to CART. */
const MOVES: Readonly<Record<OrderStatus, Act | undefined>> = {
  CART: undefined,
  PLACED: 'be placed',
  COMPLETED: 'be completed',
  CANCELLED: 'be cancelled',
}

/** The cell of the table about a transition. */
function transition(from: OrderStatus, to: OrderStatus): Cell {
  const act = MOVES[to]
  return act === undefined ? 'no' : ALLOWED[act][from]
}

/** Whether an order can go from one status to another (OP-48). */
export const isLegalTransition = (from: OrderStatus, to: OrderStatus): boolean => transition(from, to) !== 'no'

/**
 * Refuses an illegal transition with `conflict` (OP-48). An order that has a fulfilment cannot be cancelled, because
 * its goods have left the stock (OP-143). The present status is no transition.
 */
export function requireTransition(order: OrderState, to: OrderStatus): void {
  const { status: from } = order
  if (from === to) return
  const next = ORDER_STATUSES.filter((status) => isLegalTransition(from, status))
  const legal = next.length === 0 ? `${from} is final` : `from ${from} it can become ${next.join(' or ')}`
  const reason = reasonAgainst(transition(from, to), order, legal)
  if (reason !== undefined) throw conflict(['status'], `an order cannot go from ${from} to ${to}${reason}`)
}

type PaymentState = Pick<OrderRecord, 'status' | 'paymentStatus' | 'totalPrice' | 'paid' | 'refunded'>
type OwedState = PaymentState & { readonly isInvoicePaid: boolean }

/**
 * The payment status that follows from the total and from what was paid and not given back (OP-42, OP-202). An order is
 * REFUNDED when all of it was given back; until then one that was PAID stays so. An order with nothing to pay becomes
 * PAID when it is placed (OP-41), or with a payment.
 */
export function paymentStatusOf({ status, paymentStatus, totalPrice, paid, refunded }: PaymentState): PaymentStatus {
  const kept = paid - refunded
  if (paid > 0 && kept === 0) return 'REFUNDED'
  if (paymentStatus === 'PAID') return 'PAID'
  if (kept > 0) return kept >= totalPrice ? 'PAID' : 'PARTIALLY_PAID'
  return totalPrice === 0 && (status === 'PLACED' || status === 'COMPLETED') ? 'PAID' : 'UNPAID'
}

/** Whether an order is to be placed, since it is paid (OP-47). */
export const isPaidCart = ({ status, paymentStatus }: Pick<OrderRecord, 'status' | 'paymentStatus'>): boolean =>
  status === 'CART' && paymentStatus === 'PAID'

/**
 * What is still to be paid, in minor units: nothing for an order that was PAID once, since what is given back is not
 * owed again, and nothing for one that is CANCELLED (OP-206). A REFUNDED order was PAID when its invoice is.
 */
export function openSumOf({ status, paymentStatus, totalPrice, paid, refunded, isInvoicePaid }: OwedState): number {
  const wasPaid = paymentStatus === 'PAID' || (paymentStatus === 'REFUNDED' && isInvoicePaid)
  return status === 'CANCELLED' || wasPaid ? 0 : totalPrice - (paid - refunded)
}

/** The fulfilment status that follows from the quantities of the items (OP-48). */
export function fulfillmentStatusOf(items: readonly Pick<ItemRecord, 'quantity' | 'fulfilled'>[]): FulfillmentStatus {
  if (items.every(({ fulfilled }) => fulfilled === 0)) return 'UNFULFILLED'
  return items.every(({ quantity, fulfilled }) => fulfilled === quantity) ? 'FULFILLED' : 'PARTIALLY_FULFILLED'
}
