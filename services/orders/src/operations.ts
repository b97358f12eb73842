import type { Database } from '@backoffice/postgres/database.ts'
import type { Catalog } from './catalog/catalog-client.ts'
import { createOrder } from './orders/create-order.ts'
import { getOrder } from './orders/get-order.ts'
import { listOrders } from './orders/list-orders.ts'
import { reserveStock } from './reservations/reserve-stock.ts'

/** The service's API. */
export const operations = (db: Database, catalog: Catalog) => [
  createOrder(catalog, reserveStock(db, catalog)),
  getOrder,
  listOrders,
]
