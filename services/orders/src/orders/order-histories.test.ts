import { ApiError, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { planCancellation } from '../cancellations/plan-cancellation.ts'
import { withFulfilled } from '../fulfillments/create-fulfillment.ts'
import { planFulfillment } from '../fulfillments/plan-fulfillment.ts'
import { planReturn } from '../returns/create-return.ts'
import { type OrderChange, withChange } from './change-order.ts'
import { planOrder } from './new-order.ts'
import type { OrderRecord } from './order.ts'
import { type Act, ALLOWED, isPaidCart, openSumOf, requireAllowed, requireTransition } from './order-states.ts'
import { planCart } from './update-cart.ts'

/*
 * Random histories of one order through the rules of all acts, with a ledger beside them that adds up what each act
 * says it has moved. The same histories against the services, with several clients at once, are in
 * order-histories.faults.test.ts.
 */

const SEED = 20_260_301
const HISTORIES = 4_000
const STOCK = 8
const NOW = new Date('2026-03-01T12:00:00Z')
const VARIANTS = [700, 45, 0].map((price, index) => ({
  ...{ id: `variant ${index}`, sku: `SKU-${index}`, title: `Thing ${index}`, status: 'ACTIVE' as const },
  price: { EUR: price },
}))

interface World {
  order: OrderRecord
  invoice: { readonly total: number; readonly isPaid: boolean } | undefined
  wasPaid: boolean
  /** By how much reductions have made the total fall. */
  reduced: number
  readonly paid: number[]
  readonly refunded: number[]
  /** By line: what was sent and did not come back. */
  readonly sent: Map<string, number>
  /** By variant: what can be sold, and what came back damaged. */
  readonly stock: Map<string, number>
  readonly lost: Map<string, number>
}

const add = (to: Map<string, number>, key: string, amount: number) => to.set(key, (to.get(key) ?? 0) + amount)
const holdsStock = ({ status }: OrderRecord) => status === 'PLACED' || status === 'COMPLETED'

/** Changes the order as `changeOrder` does: its invoice is issued when it becomes PLACED or PAID (OP-45). */
function change(world: World, changed: OrderChange): void {
  const before = world.order
  world.order = withChange(before, changed, NOW)
  const { status, paymentStatus, totalPrice } = world.order
  const isIssued =
    (status === 'PLACED' && before.status !== 'PLACED') || (paymentStatus === 'PAID' && status !== 'CANCELLED')
  if (isIssued) world.invoice ??= { total: totalPrice, isPaid: false }
  if (paymentStatus !== 'PAID') return
  world.wasPaid = true
  if (world.invoice !== undefined) world.invoice = { ...world.invoice, isPaid: true }
}

function place(world: World): void {
  const { order } = world
  requireTransition(order, 'PLACED')
  if (order.status !== 'CART') return
  const needed = new Map<string, number>()
  for (const { variant, quantity } of order.items) add(needed, variant, quantity)
  for (const [variant, quantity] of needed) {
    if ((world.stock.get(variant) ?? 0) < quantity) throw conflict(['items'], 'too little stock')
  }
  for (const [variant, quantity] of needed) add(world.stock, variant, -quantity)
  change(world, { status: 'PLACED' })
}

/** Gives the stock of quantities back, or of all lines. */
function giveBack(
  { order, stock, lost }: World,
  items: readonly { id: string; quantity: number; restock?: boolean }[] = order.items,
) {
  if (!holdsStock(order)) return
  for (const { id, quantity, restock = true } of items) {
    const variant = order.items.find((item) => item.id === id)?.variant ?? ''
    add(restock ? stock : lost, variant, quantity)
  }
}

type Wanted = readonly { readonly line: number; readonly quantity: number; readonly restock: boolean }[]
const linesOf = ({ order }: World, wanted: Wanted) =>
  wanted.map(({ line, quantity, restock }) => ({
    id: order.items[line % order.items.length]?.id ?? '',
    quantity,
    restock,
  }))

interface Step {
  readonly act: Act
  readonly amount: number
  readonly wanted: Wanted
  readonly isAll: boolean
}

/** What each act of the table does. Throws an ApiError where it is refused. */
const DO: Readonly<Record<Act, (world: World, step: Step) => void>> = {
  'be paid': (world, { amount }) => {
    requireAllowed('be paid', world.order)
    world.paid.push(amount)
    change(world, { paid: world.order.paid + amount })
  },
  'be refunded': (world, { amount }) => {
    requireAllowed('be refunded', world.order)
    const { paid, refunded } = world.order
    if (amount > paid - refunded) throw unprocessable(['amount'], 'is above what was paid')
    world.refunded.push(amount)
    change(world, { refunded: refunded + amount })
  },
  'be placed': place,
  'be fulfilled': (world, { wanted, isAll }) => {
    const items = planFulfillment(world.order, isAll ? null : linesOf(world, wanted))
    for (const { id, quantity } of items) add(world.sent, id, quantity)
    change(world, { items: withFulfilled(world.order.items, items) })
  },
  'have open quantities cancelled': (world, { wanted, isAll }) => {
    const isInvoiced = world.invoice !== undefined
    const planned = planCancellation({ ...world.order, isInvoiced }, isAll ? null : linesOf(world, wanted))
    giveBack(world, planned.items)
    world.reduced += planned.amount
    change(world, planned.change)
  },
  'have goods returned': (world, { wanted }) => {
    const planned = planReturn(world.order, linesOf(world, wanted))
    giveBack(world, planned.items)
    for (const { id, quantity } of planned.items) add(world.sent, id, -quantity)
    world.reduced += world.order.totalPrice - planned.change.totalPrice
    change(world, planned.change)
  },
  'be cancelled': (world) => {
    requireTransition(world.order, 'CANCELLED')
    giveBack(world)
    change(world, { status: 'CANCELLED' })
  },
  'be completed': (world) => {
    requireTransition(world.order, 'COMPLETED')
    change(world, { status: 'COMPLETED' })
  },
  'get other lines, amounts or customer': (world, { amount, wanted, isAll }) => {
    requireAllowed('get other lines, amounts or customer', { ...world.order, isInvoiced: world.invoice !== undefined })
    const items = wanted.map(({ line, quantity }) => ({ variant: VARIANTS[line % VARIANTS.length]?.id, quantity }))
    const sent = isAll ? { total_tax: amount, total_discount: 2 * amount } : { items, total_shipping: amount }
    change(world, planCart(world.order, sent, VARIANTS, NOW))
  },
  'get another address': (world, { amount }) => {
    requireAllowed('get another address', world.order)
    change(world, { shippingAddress: { street: amount } })
  },
  'get another note or promise date': (world, { amount }) => {
    requireAllowed('get another note or promise date', world.order)
    change(world, { note: String(amount) })
  },
}

/** A paid order at CART is placed where its stock suffices (OP-47). */
function placeWhenPaid(world: World): void {
  try {
    if (isPaidCart(world.order)) place(world)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

const sum = (amounts: Iterable<number>) => [...amounts].reduce((total, amount) => total + amount, 0)

/** What does not agree in a world. One list instead of many expectations, because those take most of the time. */
function contradictions({ order, invoice, wasPaid, reduced, paid, refunded, sent, stock, lost }: World): string[] {
  const { items, subtotalPrice, totalShipping, totalTax, totalDiscount, totalPrice, totalItems, paymentStatus } = order
  const kept = order.paid - order.refunded
  const held = (id: string) =>
    holdsStock(order) ? sum(items.filter(({ variant }) => variant === id).map(({ quantity }) => quantity)) : 0
  const rules: Record<string, boolean> = {
    'no more is fulfilled than there is': items.every(
      ({ quantity, fulfilled }) => fulfilled >= 0 && fulfilled <= quantity,
    ),
    'fulfilled is what was sent and not returned': items.every(
      ({ id, fulfilled }) => fulfilled === (sent.get(id) ?? 0),
    ),
    'a line costs its quantity': items.every((item) => item.totalPrice === item.quantity * item.unitPrice),
    'the subtotal is that of the lines': subtotalPrice === sum(items.map((item) => item.totalPrice)),
    'the total is that of its parts': totalPrice === subtotalPrice + totalShipping + totalTax - totalDiscount,
    'the discount is within the subtotal': totalDiscount >= 0 && totalDiscount <= subtotalPrice,
    'total_items is that of the lines': totalItems === sum(items.map(({ quantity }) => quantity)),
    'payments and refunds add up': order.paid === sum(paid) && order.refunded === sum(refunded),
    'no more is given back than was paid': kept >= 0,
    'REFUNDED is all given back': (paymentStatus === 'REFUNDED') === (order.paid > 0 && kept === 0),
    'what settles the total is PAID': kept <= 0 || kept < totalPrice || paymentStatus === 'PAID',
    'what was given back is owed until the order was PAID':
      openSumOf({ ...order, isInvoicePaid: invoice?.isPaid ?? false }) ===
      (order.status === 'CANCELLED' || (wasPaid && kept === 0) || paymentStatus === 'PAID' ? 0 : totalPrice - kept),
    'a placed order has an invoice': !holdsStock(order) || invoice !== undefined,
    'the invoice is the total and what it fell by': invoice === undefined || invoice.total === totalPrice + reduced,
    'stock is neither made nor lost': VARIANTS.every(
      ({ id }) => (stock.get(id) ?? 0) + held(id) + (lost.get(id) ?? 0) === STOCK,
    ),
  }
  return Object.keys(rules).filter((rule) => !rules[rule])
}

const wanted = fc.array(
  fc.record({ line: fc.nat(4), quantity: fc.integer({ min: 1, max: 4 }), restock: fc.boolean() }),
  { minLength: 1, maxLength: 3 },
)
const step = fc.record<Step>({
  act: fc.constantFrom(...(Object.keys(ALLOWED) as Act[])),
  amount: fc.integer({ min: 1, max: 2500 }),
  wanted,
  isAll: fc.boolean(),
})

it(`${HISTORIES} random histories keep to the table, and money and stock agree after each step (OP-207)`, () => {
  const reached = new Set<string>()
  fc.assert(
    fc.property(wanted, fc.array(step, { minLength: 4, maxLength: 24 }), (first, steps) => {
      const items = first.map(({ line, quantity }) => ({ variant: VARIANTS[line % VARIANTS.length]?.id, quantity }))
      const form = { currency: 'EUR', items, total_shipping: 300, total_tax: 101 }
      const world: World = {
        order: { ...planOrder(form, VARIANTS, NOW), orderNumber: 'one', customer: null },
        ...{ invoice: undefined, wasPaid: false },
        ...{ reduced: 0, paid: [], refunded: [], sent: new Map(), lost: new Map() },
        stock: new Map(VARIANTS.map(({ id }) => [id, STOCK])),
      }
      for (const one of steps) {
        const { order, invoice, reduced } = world
        const from = order.status
        try {
          DO[one.act](world, one)
          if (ALLOWED[one.act][from] === 'no') expect([one.act, world.order]).toEqual([one.act, order])
          else reached.add(`${one.act} at ${from}`)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          const isUnchanged = world.order === order && world.invoice === invoice && world.reduced === reduced
          if (!isUnchanged) expect(world).toMatchObject({ order, invoice, reduced })
        }
        placeWhenPaid(world)
        const wrong = contradictions(world)
        if (wrong.length > 0) expect(wrong).toEqual([])
      }
    }),
    { numRuns: HISTORIES, seed: SEED },
  )
  // Each act is reached wherever the table allows it.
  const allowed = Object.entries(ALLOWED).flatMap(([act, cells]) =>
    Object.entries(cells).flatMap(([status, cell]) => (cell === 'no' ? [] : [`${act} at ${status}`])),
  )
  expect(allowed.filter((one) => !reached.has(one))).toEqual([])
})
