import { Order } from '@backoffice/contracts/order.ts'
import { type OperationInput, operation } from '@backoffice/http/operation.ts'
import { created, type Reply } from '@backoffice/http/reply.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { type Catalog, VARIANT_BYTES } from '../catalog/catalog-client.ts'
import type { CheckOrder } from '../form/order-check.ts'
import type { HoldReservation, ReserveStock } from '../reservations/reserve-stock.ts'
import { changeOrder } from './change-order.ts'
import { newOrderId, type PlannedOrder, planOrder, wantedVariants } from './new-order.ts'
import { type OrderRecord, orderBody, orderEvent } from './order.ts'
import { orderCustomer, requireCustomer, shownCustomer } from './order-customer.ts'
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

    async handle({ body: form, storedAnswer, expectBytes, ...request }) {
      await expectBytes(form.items.length * VARIANT_BYTES)
      const stored = await storedAnswer()
      if (stored) return stored
      const services = { db, catalog, reserveStock, checkOrder }
      const creation = { ...request, form }
      if (form.status !== 'PLACED') return createCart(services, creation)
      return isTakenAtOnce(form) ? placePricedByTake(services, creation) : placePricedFirst(services, creation)
    },
  })

interface Services {
  readonly db: Database
  readonly catalog: Catalog
  readonly reserveStock: ReserveStock
  readonly checkOrder: CheckOrder
}

type Input = OperationInput<unknown, unknown, unknown, unknown>
interface Creation extends Pick<Input, 'sentBody' | 'context' | 'now' | 'idempotencyKey' | 'inWorkspace'> {
  readonly form: OrderForm
}

/** Creates the order at CART. What is wrong in the form is told also while catalog does not answer. */
async function createCart(services: Services, creation: Creation): Promise<Reply> {
  const { db, catalog, checkOrder } = services
  const { form, sentBody, context, now, inWorkspace } = creation
  const checking = db.inWorkspace(context, (tx) => checkOrder(tx, sentBody)).then((check) => check?.())
  const reading = catalog.readVariants(context, wantedVariants(form.items))
  await Promise.allSettled([checking, reading])
  await checking
  const plan = planOrder(form, await reading, now)
  return inWorkspace(async (tx) => {
    const { cart, events } = await planCart(tx, plan, form, now)
    await Promise.all([insertOrder(tx, cart, sentBody), publish(tx, events, now)])
    return created(orderBody(cart))
  })
}

/** Reads the prices, and then takes the stock. */
async function placePricedFirst(services: Services, creation: Creation): Promise<Reply> {
  const { form, context, now } = creation
  const plan = planOrder(form, await services.catalog.readVariants(context, wantedVariants(form.items)), now)
  return services.reserveStock(context, { ...wantedBy(services, creation, plan.id), lines: plan.items }, (hold) =>
    insertPlaced(creation, plan, hold),
  )
}

/**
 * Whether the stock can be taken, and the prices read, by one call. Catalog refuses its variants and their prices; what
 * may be refused afterwards is an amount beyond 2^53−1.
 */
const isTakenAtOnce = ({ items, total_discount: discount }: OrderForm) =>
  !discount && items.every(({ variant }) => variant != null)

/** Prices the order from what is taken. What catalog refuses, it shows: a refusal names the members of the form. */
function placePricedByTake(services: Services, creation: Creation): Promise<Reply> {
  const { form, context, now } = creation
  const id = newOrderId(now)
  const lines = form.items.map(({ variant, quantity }) => ({ variant: variant ?? '', quantity }))
  const wanted = { ...wantedBy(services, creation, id), lines, currency: form.currency }
  return services.reserveStock(context, wanted, async (hold, taken, refused) => {
    const readVariants = () =>
      services.catalog.readVariants(context, wantedVariants(form.items)).catch((error: unknown) => {
        throw refused ?? error
      })
    return insertPlaced(creation, planOrder(form, taken ?? (await readVariants()), now, id), hold)
  })
}

/** What is reserved for the order of this id, once the form and its customer are checked. */
const wantedBy = ({ checkOrder }: Services, { form, sentBody, idempotencyKey }: Creation, id: string) => ({
  id,
  idempotencyKey,
  async check(tx: Transaction) {
    const [check] = await Promise.all([checkOrder(tx, sentBody), requireCustomer(tx, form.customer)])
    return check
  },
})

/** Writes the order as placed, with the stock that is held. */
const insertPlaced = ({ form, sentBody, now, inWorkspace }: Creation, plan: PlannedOrder, hold: HoldReservation) =>
  inWorkspace(async (tx) => {
    const [, { cart, events }] = await Promise.all([hold(tx), planCart(tx, plan, form, now)])
    const write = (order: OrderRecord) => insertOrder(tx, order, sentBody)
    return created(orderBody(await changeOrder(tx, cart, { status: 'PLACED' }, now, { events, write })))
  })

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
