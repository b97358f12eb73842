import { z } from 'zod'
import { Id } from './fields.ts'
import { LIMITS } from './limits.ts'
import { inRecords } from './members.ts'
import { exampleOf, named, namedObject } from './named.ts'
import { FULFILLMENT, Fulfillment, Invoice, ORDER, ORDER_ITEM, Order, OrderItem } from './order.ts'

/** The data of order.created, order.updated and order.paid. Later members are optional here (product-records.ts). */
export const OrderData = namedObject(
  'OrderData',
  { ...ORDER.shapes.data, items: z.array(inRecords(ORDER_ITEM.shapes.data, OrderItem)) },
  exampleOf(Order),
)

/** The data of invoice.paid (spec: Event names and data). */
export const InvoiceData = named(
  'InvoiceData',
  Invoice.pick({ id: true, number: true, order: true, currency: true, total: true }),
  {
    id: '0198c7a0-0000-7000-8000-000000000033',
    number: '1',
    order: '0198c7a0-0000-7000-8000-000000000030',
    currency: 'EUR',
    total: 10300,
  },
)

/** The data of fulfillment.created (OP-67). */
export const FulfillmentData = namedObject('FulfillmentData', FULFILLMENT.shapes.data, exampleOf(Fulfillment))

/**
 * The data of reservation.released: catalog returns the stock of this reservation (topic `orders.reservations`). It is
 * the `order` of `POST /internal/stock/take`.
 */
export const ReservationReleased = z.strictObject({ order: Id })

/**
 * The data of stock.returned: catalog takes these lines out of a reservation, once for each `id`, and adds those with
 * `restock` to stock (topic `orders.returns`). `order` is that of `POST /internal/stock/take`.
 */
export const StockReturned = z.strictObject({
  order: Id,
  id: Id,
  lines: z
    .array(z.strictObject({ variant: Id, quantity: z.int().min(1), restock: z.boolean() }))
    .min(1)
    .max(2 * LIMITS.idsPerCall),
})
