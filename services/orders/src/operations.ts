import { checkImports } from '@backoffice/importing/check-imports.ts'
import { undoImports } from '@backoffice/importing/undo-imports.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { createCancellation } from './cancellations/create-cancellation.ts'
import { listCancellations } from './cancellations/list-cancellations.ts'
import type { Catalog } from './catalog/catalog-client.ts'
import type { CheckoutApps } from './checkout/checkout-apps.ts'
import { createCheckout } from './checkout/create-checkout.ts'
import { createCustomer } from './customers/create-customer.ts'
import { getCustomer } from './customers/get-customer.ts'
import { listCustomers } from './customers/list-customers.ts'
import { updateCustomer } from './customers/update-customer.ts'
import { deleteCustomer } from './erasures/delete-customer.ts'
import { getErasure } from './erasures/get-erasure.ts'
import type { FormValidator } from './form/form-validator.ts'
import { getFormSchema } from './form/get-form-schema.ts'
import { orderCheck } from './form/order-check.ts'
import { updateFormSchema } from './form/update-form-schema.ts'
import { createFulfillment } from './fulfillments/create-fulfillment.ts'
import { listFulfillments } from './fulfillments/list-fulfillments.ts'
import { batchCustomers } from './imports/batch-customers.ts'
import { importers } from './imports/importers.ts'
import { createInvoice } from './orders/create-invoice.ts'
import { createOrder } from './orders/create-order.ts'
import { getBalance } from './orders/get-balance.ts'
import { getBuyer } from './orders/get-buyer.ts'
import { getOrder } from './orders/get-order.ts'
import { getSubmittedForm } from './orders/get-submitted-form.ts'
import { getInvoice, listWorkspaceInvoices } from './orders/invoices-of-workspace.ts'
import { listInvoices } from './orders/list-invoices.ts'
import { listOrders } from './orders/list-orders.ts'
import { placeWithStock } from './orders/place-order.ts'
import { updateCart } from './orders/update-cart.ts'
import { updateOrder } from './orders/update-order.ts'
import { listPayments } from './payments/list-payments.ts'
import { recordPayment } from './payments/record-payment.ts'
import { getPlacement } from './placements/get-placement.ts'
import { getCreditNote, listCreditNotes, listOrderCreditNotes } from './refunds/credit-note.ts'
import { listRefunds } from './refunds/list-refunds.ts'
import { recordRefund } from './refunds/record-refund.ts'
import { reserveStock } from './reservations/reserve-stock.ts'
import { createReturn } from './returns/create-return.ts'
import { listReturns } from './returns/list-returns.ts'

/** The service's API. */
export const operations = (
  db: Database,
  catalog: Catalog,
  forms: FormValidator,
  apps: CheckoutApps,
  logger: Logger,
) => {
  const reserve = reserveStock(db, catalog, logger)
  const place = placeWithStock(db, catalog, reserve)
  return [
    createCustomer,
    batchCustomers,
    getCustomer,
    listCustomers,
    updateCustomer,
    deleteCustomer,
    getErasure,
    createOrder(db, catalog, reserve, orderCheck(forms)),
    getOrder,
    listOrders,
    updateOrder(catalog, place, logger),
    updateCart({ db, catalog, place, logger }),
    getFormSchema,
    updateFormSchema(forms),
    getSubmittedForm,
    recordPayment(db, place, logger),
    getPlacement,
    listPayments,
    recordRefund,
    listRefunds,
    getBalance,
    createCheckout(place, apps),
    createInvoice,
    getBuyer,
    listInvoices,
    listWorkspaceInvoices,
    getInvoice,
    listCreditNotes,
    getCreditNote,
    listOrderCreditNotes,
    createFulfillment,
    listFulfillments,
    createCancellation({ db, catalog, place, logger }),
    listCancellations,
    createReturn(catalog, logger),
    listReturns,
    checkImports(importers),
    undoImports(importers),
  ]
}
