import { expect, it } from 'vitest'
import type { ItemRecord } from './order.ts'
import { reducedOrder } from './reduce-order.ts'

const line = (id: string, quantity: number, unitPrice: number, fulfilled = 0): ItemRecord => ({
  ...{ id, variant: id, title: id, sku: id, quantity, unitPrice, negotiatedUnitPrice: null, fulfilled },
  totalPrice: quantity * unitPrice,
})
const order = {
  items: [line('shirt', 3, 1000, 2), line('cap', 1, 500)],
  ...{ subtotalPrice: 3500, totalShipping: 700, totalTax: 334, totalDiscount: 333 },
}
const taken = (quantities: Record<string, number>) => new Map(Object.entries(quantities))

it('discount and tax fall with the subtotal, rounded down, and the shipping stays (OP-209)', () => {
  const { items, ...amounts } = reducedOrder(order, taken({ shirt: 1 }), 'open')
  expect(amounts).toEqual({ subtotalPrice: 2500, totalTax: 238, totalDiscount: 237, totalPrice: 3201, totalItems: 3 })
  expect(items.map(({ quantity, fulfilled, totalPrice }) => [quantity, fulfilled, totalPrice])).toEqual([
    [2, 2, 2000],
    [1, 0, 500],
  ])
})

it('what is returned was fulfilled (OP-210)', () => {
  const [shirt] = reducedOrder(order, taken({ shirt: 2 }), 'fulfilled').items
  expect(shirt).toMatchObject({ quantity: 1, fulfilled: 0, totalPrice: 1000 })
})

it('nothing is left of discount and tax when nothing is left of the subtotal; lines of no price keep the tax', () => {
  expect(reducedOrder(order, taken({ shirt: 3, cap: 1 }), 'open')).toMatchObject({
    ...{ subtotalPrice: 0, totalTax: 0, totalDiscount: 0, totalPrice: 700, totalItems: 0 },
  })
  const free = { ...order, items: [line('gift', 2, 0)], subtotalPrice: 0, totalDiscount: 0 }
  expect(reducedOrder(free, taken({ gift: 1 }), 'open')).toMatchObject({ totalTax: 334, totalPrice: 1034 })
})

it('reduces an order whose shipping and subtotal without its discount would be too much', () => {
  const most = {
    items: [line('a', 3, 2 ** 51)],
    ...{ subtotalPrice: 3 * 2 ** 51, totalShipping: 2 ** 52, totalTax: 3, totalDiscount: 2 ** 52 },
  }
  expect(reducedOrder(most, taken({ a: 1 }), 'open')).toMatchObject({ subtotalPrice: 2 ** 52, totalTax: 2 })
})

it('is exact for amounts whose product exceeds 2^53', () => {
  const most = 2 ** 52
  const dear = {
    items: [line('a', 2, most / 2)],
    subtotalPrice: most,
    totalShipping: 0,
    totalTax: most - 1,
    totalDiscount: 0,
  }
  expect(reducedOrder(dear, taken({ a: 1 }), 'open').totalTax).toBe(most / 2 - 1)
})
