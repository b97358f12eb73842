import { expireImportedChanges } from '@backoffice/importing/expire-imported-changes.ts'
import { writeMoreWords } from '@backoffice/postgres/lists/write-more-words.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { CatalogClient } from './catalog/catalog-client.ts'
import { ordersCheck } from './check/check-orders.ts'
import { takenStock } from './check/taken-stock.ts'
import { checkoutApps } from './checkout/checkout-apps.ts'
import { OrdersConfig } from './config.ts'
import { eraseCustomers } from './erasures/erase-customers.ts'
import { FormValidator } from './form/form-validator.ts'
import { applyImportBatches } from './imports/importers.ts'
import { operations } from './operations.ts'
import { placePaid, placeWithStock } from './orders/place-order.ts'
import { measurePlacements } from './placements/measure-placements.ts'
import { placePaidOrders } from './placements/place-paid-orders.ts'
import { POOLS } from './pools.ts'
import { measureReservations } from './reservations/measure-reservations.ts'
import { releaseAbandoned } from './reservations/release-abandoned.ts'
import { reserveStock } from './reservations/reserve-stock.ts'

await runService(
  'orders',
  OrdersConfig,
  POOLS,
  ({ config, tokens: { signer }, db, logger, pools, consume, wakeRelay }) => {
    const { worker, imports, releases, placements, erasures } = pools
    const [catalog, apps] = [new CatalogClient(config.CATALOG_URL, signer), checkoutApps(config.APPS_URL, signer)]
    const taken = takenStock(config.CATALOG_URL, signer)
    const forms = new FormValidator()
    const place = placePaid(placeWithStock(placements, catalog, reserveStock(placements, catalog, logger)))
    return {
      worker,
      operations: operations(db, catalog, forms, apps, logger),
      checks: { 'check-orders': ordersCheck(taken.read) },
      components: [catalog, taken, apps, forms],
      consumers: [consume(applyImportBatches(wakeRelay), imports)],
      workers: [
        releaseAbandoned({ db: releases, worker, catalog, logger }),
        placePaidOrders({ db: placements, worker, logger, place }),
        eraseCustomers({ db: erasures, worker, logger }),
        writeMoreWords('customer', { db: erasures, worker, logger }),
        mergeCounts(worker, logger, ['customer_count', 'order_count']),
        expireImportedChanges(worker, logger),
        measureReservations(worker, logger),
        measurePlacements(worker, logger),
      ],
    }
  },
)
