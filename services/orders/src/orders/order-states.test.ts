import { ORDER_STATUSES } from '@backoffice/contracts/order.ts'
import { describe, expect, it } from 'vitest'
import { fulfillmentStatusOf, isLegalTransition, paymentStatusOf, requireTransition } from './order-states.ts'

it('the legal transitions are CART to PLACED to COMPLETED, and CART or PLACED to CANCELLED (OP-48)', () => {
  const pairs = ORDER_STATUSES.flatMap((from) => ORDER_STATUSES.map((to) => [from, to] as const))
  expect(pairs.filter(([from, to]) => isLegalTransition(from, to))).toEqual([
    ['CART', 'PLACED'],
    ['CART', 'CANCELLED'],
    ['PLACED', 'COMPLETED'],
    ['PLACED', 'CANCELLED'],
  ])
})

it('an illegal transition is a conflict that names both statuses; the present status is none (OP-48)', () => {
  for (const from of ORDER_STATUSES) {
    for (const to of ORDER_STATUSES) {
      const move = () => requireTransition({ status: from, fulfillmentStatus: 'UNFULFILLED' }, to)
      if (from === to || isLegalTransition(from, to)) expect(move).not.toThrow()
      else expect(move).toThrow(`status: an order cannot go from ${from} to ${to}`)
    }
  }
})

it('an order with a fulfilment cannot be cancelled, but completed (OP-143)', () => {
  for (const fulfillmentStatus of ['PARTIALLY_FULFILLED', 'FULFILLED'] as const) {
    const order = { status: 'PLACED', fulfillmentStatus } as const
    expect(() => requireTransition(order, 'CANCELLED')).toThrow(
      `from PLACED to CANCELLED while it is ${fulfillmentStatus}`,
    )
    expect(() => requireTransition(order, 'COMPLETED')).not.toThrow()
  }
})

describe('the payment status follows from the total and the sum of the payments (OP-42)', () => {
  it.each([
    // status, before, total, paid, after
    ['CART', 'UNPAID', 100, 0, 'UNPAID'],
    ['CART', 'UNPAID', 100, 1, 'PARTIALLY_PAID'],
    ['CART', 'PARTIALLY_PAID', 100, 99, 'PARTIALLY_PAID'],
    ['CART', 'PARTIALLY_PAID', 100, 100, 'PAID'],
    ['PLACED', 'UNPAID', 100, 101, 'PAID'],
    ['CANCELLED', 'UNPAID', 100, 100, 'PAID'],
    ['COMPLETED', 'UNPAID', 100, 0, 'UNPAID'],
    ['CART', 'UNPAID', 0, 0, 'UNPAID'], // nothing to pay (OP-41)
    ['PLACED', 'UNPAID', 0, 0, 'PAID'],
    ['CANCELLED', 'UNPAID', 0, 0, 'UNPAID'],
    ['CANCELLED', 'PAID', 0, 0, 'PAID'],
    ['CART', 'UNPAID', 0, 1, 'PAID'],
    ['PLACED', 'REFUNDED', 100, 200, 'REFUNDED'],
  ] as const)('%s %s, %i to pay, %i paid: %s', (status, paymentStatus, totalPrice, paid, after) => {
    expect(paymentStatusOf({ status, paymentStatus, totalPrice, paid })).toBe(after)
  })
})

describe('the fulfilment status follows from the quantities (OP-48)', () => {
  it.each([
    [[[2, 0]], 'UNFULFILLED'],
    [[[2, 1]], 'PARTIALLY_FULFILLED'],
    [[[2, 2]], 'FULFILLED'],
    [
      [
        [2, 2],
        [1, 0],
      ],
      'PARTIALLY_FULFILLED',
    ],
    [
      [
        [2, 0],
        [1, 1],
      ],
      'PARTIALLY_FULFILLED',
    ],
    [
      [
        [2, 2],
        [1, 1],
      ],
      'FULFILLED',
    ],
  ] as const)('%j: %s', (quantities, status) => {
    const items = quantities.map(([quantity, fulfilled]) => ({ quantity, fulfilled }))
    expect(fulfillmentStatusOf(items)).toBe(status)
  })
})
