import { Order } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { type Catalog, VARIANT_BYTES } from '../catalog/catalog-client.ts'
import type { CheckOrder } from '../form/order-check.ts'
import type { ReserveStock } from '../reservations/reserve-stock.ts'
import { changeOrder } from './change-order.ts'
import { newOrderId, type PlannedOrder, planOrder, wantedVariants } from './new-order.ts'
import { type OrderRecord, orderBody, orderEvent } from './order.ts'
import { orderCustomer, shownCustomer } from './order-customer.ts'
import { OrderForm } from './order-form.ts'
import { newOrderNumber } from './order-number.ts'
import { insertOrder } from './write-order.ts'

/**
 * POST /v1/orders (spec: Orders): creates an order at CART, or places it as well when the form asks for PLACED; then
 * short stock creates nothing (OP-44). Prices are those that catalog has at this moment.
 */
export const createOrder = (db: Database, catalog: Catalog, reserveStock: ReserveStock, checkOrder: CheckOrder) =>
  operation({
    operationId: 'createOrder',
    method: 'POST',
    path: '/v1/orders',
    summary: 'Create an order',
    scope: 'sale::create',
    body: OrderForm,
    responses: { 201: Order },
    events: ['customer.created', 'order.created', 'order.updated', 'order.paid', 'invoice.paid'],
    openPoints: [
      'OP-08',
      'OP-41',
      'OP-42',
      'OP-44',
      'OP-45',
      'OP-46',
      'OP-134',
      'OP-136',
      'OP-137',
      'OP-141',
      'OP-71',
      'OP-135',
      'OP-213',
    ],

    async handle({ body: form, sentBody, context, now, idempotencyKey, inWorkspace, storedAnswer, expectBytes }) {
      await expectBytes(form.items.length * VARIANT_BYTES)
      const stored = await storedAnswer()
      if (stored) return stored
      const wanted = wantedVariants(form.items)
      if (form.status !== 'PLACED') {
        const checking = db.inWorkspace(context, (tx) => checkOrder(tx, sentBody)).then((check) => check?.())
        const reading = catalog.readVariants(context, wanted)
        await Promise.allSettled([checking, reading])
        // What is wrong in the form is told also while catalog does not answer.
        await checking
        const plan = planOrder(form, await reading, now)
        return inWorkspace(async (tx) => {
          const { cart, events } = await planCart(tx, plan, form, now)
          await Promise.all([insertOrder(tx, cart, sentBody), publish(tx, events, now)])
          return created(orderBody(cart))
        })
      }
      const id = newOrderId(now)
      const planned = isTakenAtOnce(form)
        ? undefined
        : planOrder(form, await catalog.readVariants(context, wanted), now, id)
      const reserved = {
        id,
        idempotencyKey,
        ...(planned === undefined
          ? { lines: linesByVariant(form), currency: form.currency }
          : { lines: planned.items }),
        check: (tx: Transaction) => checkOrder(tx, sentBody),
      }
      return reserveStock(context, reserved, async (hold, taken, refused) => {
        // What catalog has refused, it shows: the refusal of an order names its own members.
        const readVariants = () =>
          catalog.readVariants(context, wanted).catch((error: unknown) => {
            throw refused ?? error
          })
        const plan = planned ?? planOrder(form, taken ?? (await readVariants()), now, id)
        return inWorkspace(async (tx) => {
          const [, { cart, events }] = await Promise.all([hold(tx), planCart(tx, plan, form, now)])
          const write = (order: OrderRecord) => insertOrder(tx, order, sentBody)
          return created(orderBody(await changeOrder(tx, cart, { status: 'PLACED' }, now, { events, write })))
        })
      })
    },
  })

/**
 * Whether the stock can be taken, and the prices read, by one call: nothing but its variants and their prices can be
 * refused afterwards, and catalog checks those.
 */
const isTakenAtOnce = ({ items, total_discount: discount }: OrderForm) =>
  !discount && items.every(({ variant }) => variant != null)

const linesByVariant = ({ items }: OrderForm) =>
  items.map(({ variant, quantity }) => ({ variant: variant ?? '', quantity }))

/** The order at CART with its customer, which is written, and the events about both. */
async function planCart(tx: Transaction, plan: PlannedOrder, form: OrderForm, now: Date) {
  const { customer, events } = await orderCustomer(tx, form.customer, now)
  const cart: OrderRecord = {
    ...plan,
    orderNumber: newOrderNumber(),
    customer: shownCustomer(customer),
  }
  return { cart, events: [...events, orderEvent('order.created', cart)] }
}
