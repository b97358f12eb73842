import type { Database } from '@backoffice/postgres/database.ts'
import type { Catalog } from './catalog/catalog-client.ts'
import { createFulfillment } from './fulfillments/create-fulfillment.ts'
import { listFulfillments } from './fulfillments/list-fulfillments.ts'
import { createInvoice } from './invoices/create-invoice.ts'
import { listInvoices } from './invoices/list-invoices.ts'
import { createOrder } from './orders/create-order.ts'
import { getOrder } from './orders/get-order.ts'
import { placeWithStock } from './orders/place-order.ts'
import { updateOrder } from './orders/update-order.ts'
import { listPayments } from './payments/list-payments.ts'
import { recordPayment } from './payments/record-payment.ts'
import { reserveStock } from './reservations/reserve-stock.ts'

/** The service's API. */
export const operations = (db: Database, catalog: Catalog) => [
  createOrder(catalog, reserveStock(db, catalog)),
  getOrder,
  updateOrder(catalog, placeWithStock(db, reserveStock(db, catalog))),
  recordPayment(placeWithStock(db, reserveStock(db, catalog))),
  listPayments,
  createInvoice,
  listInvoices,
  createFulfillment,
  listFulfillments,
]
