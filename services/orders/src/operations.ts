import type { Database } from '@backoffice/postgres/database.ts'
import type { Catalog } from './catalog/catalog-client.ts'
import { customerOperations } from './customers/customer-operations.ts'
import { createOrder } from './orders/create-order.ts'
import { getOrder } from './orders/get-order.ts'
import { reserveStock } from './reservations/reserve-stock.ts'

/** The service's API. */
export const operations = (db: Database, catalog: Catalog) => [
  createOrder(catalog, reserveStock(db, catalog)),
  getOrder,
  ...customerOperations,
]
