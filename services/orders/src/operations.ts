import type { Database } from '@backoffice/postgres/database.ts'
import type { Catalog } from './catalog/catalog-client.ts'
import { orderCheck } from './form/form-schema.ts'
import type { FormValidator } from './form/form-validator.ts'
import { getFormSchema } from './form/get-form-schema.ts'
import { updateFormSchema } from './form/update-form-schema.ts'
import { createOrder } from './orders/create-order.ts'
import { getOrder } from './orders/get-order.ts'
import { getSubmittedForm } from './orders/get-submitted-form.ts'
import { reserveStock } from './reservations/reserve-stock.ts'

/** The service's API. */
export const operations = (db: Database, catalog: Catalog, forms: FormValidator) => [
  createOrder(catalog, reserveStock(db, catalog), orderCheck(db, forms)),
  getOrder,
  getFormSchema,
  updateFormSchema(forms),
  getSubmittedForm,
]
