import { orAbsent } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { ORDER, Order } from '@backoffice/contracts/order.ts'
import type { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { z } from 'zod'
import { type Catalog, VARIANT_BYTES } from '../catalog/catalog-client.ts'
import { tryPlacement } from '../placements/placement.ts'
import { changeOrder, type OrderChange } from './change-order.ts'
import { hasInvoice } from './invoice.ts'
import { type OrderedLine, orderedLines, wantedVariants } from './new-order.ts'
import { type ItemRecord, lockOrder, type OrderRecord, orderBody, readOrder } from './order.ts'
import { orderCustomer, shownCustomer } from './order-customer.ts'
import { OrderForm } from './order-form.ts'
import { isPaidCart, requireAllowed } from './order-states.ts'
import { type PlaceWithStock, placePaid } from './place-order.ts'
import { priceOrder } from './price-order.ts'
import { replaceItems, writeCustomer } from './write-order.ts'

const { items, customer, total_shipping, total_tax, total_discount } = OrderForm.shape

const CartBody = namedObject(
  'CartUpdate',
  { items: orAbsent(items), customer, total_shipping, total_tax, total_discount },
  { items: [{ sku: 'LINEN-M', quantity: 3 }], total_shipping: 0 },
)
type CartBody = z.output<typeof CartBody>

interface Dependencies {
  readonly db: Database
  readonly catalog: Catalog
  readonly place: PlaceWithStock
  readonly logger: Logger
}

/**
 * PUT /v1/orders/{id}/cart (extension of OP-43): changes what an order at CART is about, until it has an invoice
 * (OP-208). Lines that are sent replace all lines, at the prices that catalog has now. One that is paid in full by what
 * was paid before is then placed, as by a payment (OP-47).
 */
export const updateCart = ({ db, catalog, place, logger }: Dependencies) =>
  operation({
    operationId: 'updateCart',
    method: 'PUT',
    path: '/v1/orders/{id}/cart',
    summary: 'Change the lines, amounts or customer of an order at CART',
    scope: 'sale::update',
    body: CartBody,
    responses: { 200: Order },
    events: ['customer.created', 'order.updated', 'order.paid', 'invoice.paid'],
    openPoints: ['OP-41', 'OP-43', 'OP-46', 'OP-47', 'OP-73', 'OP-137', 'OP-141', 'OP-207', 'OP-208'],
    extension: true,

    async handle({ params: { id }, body, context, now, inWorkspace, expectBytes }) {
      const lines = body.items ?? []
      await expectBytes(lines.length * VARIANT_BYTES)
      const variants = lines.length > 0 ? catalog.readVariants(context, wantedVariants(lines)) : []
      // A refusal waits until the order is known to be one that may change.
      await Promise.allSettled([variants])
      let isToBePlaced = false
      const reply = await inWorkspace(async (tx) => {
        // Before the order's lock: an erasure may hold the customer's, and it waits for no order.
        const found = body.customer === undefined ? undefined : await orderCustomer(tx, body.customer, now)
        const before = await lockOrder(tx, id)
        requireAllowed('get other lines, amounts or customer', { ...before, isInvoiced: await hasInvoice(tx, id) })
        const change = planCart(before, body, await variants, now)
        if (change.items !== undefined) await replaceItems(tx, id, change.items)
        if (found !== undefined) await writeCustomer(tx, id, found.customer?.id)
        const customer = found === undefined ? before.customer : shownCustomer(found.customer)
        const after = await changeOrder(tx, before, { ...change, customer }, now, { events: found?.events ?? [] })
        isToBePlaced = isPaidCart(after)
        return ok(orderBody(after))
      })
      if (!isToBePlaced) return reply
      await tryPlacement({ db, logger }, context, id, () => placePaid(place)(context, id, now))
      const placed = await inWorkspace(async (tx) => ok(orderBody(await readOrder(tx, id)))).catch((error: unknown) => {
        // The edit is committed: a refusal would say that nothing has changed.
        logger.warn({ err: error, workspace_id: context.workspaceId, order_id: id }, 'could not read an edited order')
      })
      return placed ?? reply
    },
  })

/** The order with what a request sends, priced anew (OP-41). */
export function planCart(
  before: OrderRecord,
  body: CartBody,
  variants: readonly OrderableVariant[],
  now: Date,
): OrderChange {
  const { items, customer: _, ...sent } = body
  const amounts = ORDER.changes(sent)
  const { currency } = before
  const lines =
    items === undefined ? before.items : withFormerIds(before.items, orderedLines({ items, currency }, variants))
  const { lineTotals, ...price } = priceOrder({ ...before, ...amounts, lines })
  const priced = lines.map((line, index) => ({ ...line, totalPrice: lineTotals[index] ?? 0 }))
  return { ...amounts, ...price, ...(items !== undefined && { items: priced, pricedAt: now }) }
}

/** A line keeps the id of a former one with its variant, so that clients find it again. */
function withFormerIds(former: readonly ItemRecord[], lines: readonly OrderedLine[]) {
  const free = Map.groupBy(former, ({ variant }) => variant)
  return lines.map((line) => ({ ...line, id: free.get(line.variant)?.shift()?.id ?? newId() }))
}
