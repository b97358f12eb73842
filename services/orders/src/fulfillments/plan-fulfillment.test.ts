import { expect, it } from 'vitest'
import { planFulfillment } from './plan-fulfillment.ts'

const order = {
  status: 'PLACED',
  fulfillmentStatus: 'PARTIALLY_FULFILLED',
  items: [
    { id: 'shirt', quantity: 3, fulfilled: 1 },
    { id: 'cap', quantity: 1, fulfilled: 0 },
    { id: 'sock', quantity: 2, fulfilled: 2 },
  ],
} as const

it('takes all that is open, in the order of the items (OP-43)', () => {
  const open = [
    { id: 'shirt', quantity: 2 },
    { id: 'cap', quantity: 1 },
  ]
  expect(planFulfillment(order)).toEqual(open)
  expect(planFulfillment(order, null)).toEqual(open)
})

it('sums an item that is sent twice (OP-145)', () => {
  const one = { id: 'shirt', quantity: 1 }
  expect(planFulfillment(order, [one, { id: 'cap', quantity: 1 }, one])).toEqual([
    { id: 'shirt', quantity: 2 },
    { id: 'cap', quantity: 1 },
  ])
})

it('refuses more than is open, with the sum of an item sent twice, and an item that the order does not have (OP-48)', () => {
  const two = { id: 'shirt', quantity: 2 }
  expect(() => planFulfillment(order, [{ id: 'cap', quantity: 2 }])).toThrow('items[0].quantity: only 1 of this item')
  expect(() => planFulfillment(order, [two, two])).toThrow('items[1].quantity: only 2 of this item')
  expect(() => planFulfillment(order, [{ id: 'sock', quantity: 1 }])).toThrow('items[0].quantity: only 0 of this item')
  expect(() => planFulfillment(order, [two, { id: 'hat', quantity: 1 }])).toThrow(
    'items[1].id: the order has no item hat; send the id of one of its items',
  )
})

it('refuses an order at CART or CANCELLED (OP-48), and one with nothing open (OP-145)', () => {
  for (const status of ['CART', 'CANCELLED'] as const) {
    expect(() => planFulfillment({ ...order, status })).toThrow(`An order at ${status} cannot be fulfilled`)
  }
  const items = order.items.map((item) => ({ ...item, fulfilled: item.quantity }))
  expect(() => planFulfillment({ status: 'COMPLETED', fulfillmentStatus: 'FULFILLED', items })).toThrow(
    'items: nothing of the order is open: all is fulfilled or cancelled; list its fulfillments',
  )
})
