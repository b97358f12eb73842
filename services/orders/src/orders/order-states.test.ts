import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FULFILLMENT_STATUSES, ORDER_STATUSES } from '@backoffice/contracts/order.ts'
import { describe, expect, it } from 'vitest'
import {
  type Act,
  ALLOWED,
  fulfillmentStatusOf,
  isLegalTransition,
  openSumOf,
  paymentStatusOf,
  requireAllowed,
  requireTransition,
} from './order-states.ts'

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

it('docs/orders.md shows what is allowed, status by status (OP-207)', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/orders.md'), 'utf8')
  const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [
    row('an order can', ...ORDER_STATUSES),
    `|${'---|'.repeat(ORDER_STATUSES.length + 1)}`,
    ...Object.entries(ALLOWED).map(([act, cells]) => row(act, ...ORDER_STATUSES.map((status) => cells[status]))),
  ]
  expect(page).toContain(`\n\n${table.join('\n')}\n\n`)
})

it('what the table does not allow is a conflict that says what would allow it (OP-207)', () => {
  for (const act of Object.keys(ALLOWED) as Act[]) {
    for (const status of ORDER_STATUSES) {
      for (const fulfillmentStatus of FULFILLMENT_STATUSES) {
        for (const isInvoiced of [false, true]) {
          const asked = () => requireAllowed(act, { status, fulfillmentStatus, isInvoiced })
          const isAllowed = {
            yes: true,
            no: false,
            'while nothing is fulfilled': fulfillmentStatus === 'UNFULFILLED',
            'while it has no invoice': !isInvoiced,
            'once it has an invoice': isInvoiced,
          }[ALLOWED[act][status]]
          if (isAllowed) expect(asked).not.toThrow()
          else expect(asked).toThrow(`An order at ${status} cannot ${act}`)
        }
      }
    }
  }
  const cart = { status: 'CART', fulfillmentStatus: 'UNFULFILLED' } as const
  expect(() => requireAllowed('be fulfilled', cart)).toThrow('it must be PLACED or COMPLETED')
})

describe('the payment status follows from the total, the payments and the refunds (OP-42, OP-202)', () => {
  it.each([
    // status, before, total, paid, refunded, after
    ['CART', 'UNPAID', 100, 0, 0, 'UNPAID'],
    ['CART', 'UNPAID', 100, 1, 0, 'PARTIALLY_PAID'],
    ['CART', 'PARTIALLY_PAID', 100, 99, 0, 'PARTIALLY_PAID'],
    ['CART', 'PARTIALLY_PAID', 100, 100, 0, 'PAID'],
    ['PLACED', 'UNPAID', 100, 101, 0, 'PAID'],
    ['CANCELLED', 'UNPAID', 100, 100, 0, 'PAID'],
    ['COMPLETED', 'UNPAID', 100, 0, 0, 'UNPAID'],
    ['CART', 'UNPAID', 0, 0, 0, 'UNPAID'], // nothing to pay (OP-41)
    ['PLACED', 'UNPAID', 0, 0, 0, 'PAID'],
    ['CANCELLED', 'UNPAID', 0, 0, 0, 'UNPAID'],
    ['CANCELLED', 'PAID', 0, 0, 0, 'PAID'],
    ['CART', 'UNPAID', 0, 1, 0, 'PAID'],
    ['PLACED', 'PAID', 100, 100, 99, 'PAID'], // a part that is given back is not owed again
    ['PLACED', 'PAID', 100, 120, 20, 'PAID'],
    ['PLACED', 'PAID', 100, 100, 100, 'REFUNDED'],
    ['PLACED', 'PAID', 0, 5, 5, 'REFUNDED'],
    ['CART', 'PARTIALLY_PAID', 100, 60, 20, 'PARTIALLY_PAID'],
    ['CART', 'PARTIALLY_PAID', 100, 60, 60, 'REFUNDED'],
    ['CART', 'PARTIALLY_PAID', 100, 110, 20, 'PARTIALLY_PAID'],
    ['CART', 'PARTIALLY_PAID', 100, 120, 20, 'PAID'],
    ['PLACED', 'REFUNDED', 100, 150, 100, 'PARTIALLY_PAID'], // paid again
    ['PLACED', 'REFUNDED', 100, 200, 100, 'PAID'],
    ['CANCELLED', 'REFUNDED', 100, 100, 100, 'REFUNDED'],
  ] as const)(
    '%s %s, %i to pay, %i paid, %i refunded: %s',
    (status, paymentStatus, totalPrice, paid, refunded, after) => {
      expect(paymentStatusOf({ status, paymentStatus, totalPrice, paid, refunded })).toBe(after)
    },
  )
})

it.each([
  ['CART', 'UNPAID', 0, 0, false, 100],
  ['PLACED', 'PARTIALLY_PAID', 60, 20, false, 60],
  ['COMPLETED', 'UNPAID', 0, 0, false, 100],
  ['PLACED', 'PAID', 120, 0, true, 0],
  ['PLACED', 'PAID', 100, 99, true, 0],
  ['PLACED', 'REFUNDED', 60, 60, false, 100], // it never was PAID
  ['PLACED', 'REFUNDED', 120, 120, false, 100], // nor by two deposits
  ['PLACED', 'PARTIALLY_PAID', 160, 100, true, 40],
  ['PLACED', 'REFUNDED', 100, 100, true, 0],
  ['PLACED', 'REFUNDED', 120, 120, true, 0],
  ['CANCELLED', 'REFUNDED', 60, 60, false, 0],
  ['CANCELLED', 'PARTIALLY_PAID', 60, 0, false, 0],
] as const)(
  'of 100 to pay, an order at %s, %s, %i paid and %i refunded, its invoice PAID: %s, has %i open (OP-206)',
  (status, paymentStatus, paid, refunded, isInvoicePaid, open) => {
    expect(openSumOf({ status, paymentStatus, totalPrice: 100, paid, refunded, isInvoicePaid })).toBe(open)
  },
)

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
