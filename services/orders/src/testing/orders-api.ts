import type { Order } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testSigner } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { type Catalog, CatalogClient } from '../catalog/catalog-client.ts'
import { type CheckoutApps, checkoutApps } from '../checkout/checkout-apps.ts'
import { FormValidator } from '../form/form-validator.ts'
import { operations } from '../operations.ts'
import { PATIENT, testCatalog } from './test-catalog.ts'

interface OrdersSettings {
  /** Replaces the process's clock. */
  readonly clock?: () => Date
  /** Those of no workspace unless given. */
  readonly apps?: CheckoutApps
}

/** The service with a database of its own and the catalog of the tests. */
export async function ordersService({
  clock,
  apps = checkoutApps('http://127.0.0.1:1', testSigner()),
}: OrdersSettings = {}) {
  const database = await testDatabase('orders')
  const catalog = await testCatalog()
  /** A client of one replica, which may have another catalog. All share the database. */
  const replica = (of: Catalog = new CatalogClient(catalog.url, testSigner(), PATIENT)) => {
    // A busy machine starts a thread within this time.
    const forms = new FormValidator({ waitMs: 600_000 })
    whenDone(() => forms.stop())
    return serviceClient(database.db, operations(database.db, of, forms, apps, createLogger('test', 'silent')), clock)
  }
  const send = replica()
  return {
    ...database,
    catalog,
    send,
    replica,
    /** Creates an order of one new variant; `form` replaces members of the form. */
    createOrder: async (caller: Caller, form: Record<string, unknown> = {}): Promise<Order> => {
      const { id } = await catalog.addVariant(caller)
      const { status, body } = await send<Order>(caller, 'POST', '/v1/orders', {
        currency: 'EUR',
        items: [{ variant: id, quantity: 2 }],
        ...form,
      })
      if (status !== 201) throw new Error(`creating an order answered ${status} ${JSON.stringify(body)}`)
      return body
    },
    /** The records of the outbox about one resource, in their order. */
    recordsOf: async (key: string) => [
      ...(await database.admin<{ type: string; topic: string; data: unknown }[]>`
        select type, topic, payload as data from outbox where key = ${key} order by id`),
    ],
  }
}
