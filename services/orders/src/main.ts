import { expireImportedChanges } from '@backoffice/messaging/expire-imported-changes.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { catalogClient } from './catalog/catalog-client.ts'
import { checkoutApps } from './checkout/checkout-apps.ts'
import { OrdersConfig } from './config.ts'
import { ERASURE_SETTINGS, eraseCustomers } from './erasures/erase-customers.ts'
import { formValidator } from './form/form-validator.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { operations } from './operations.ts'
import { releaseAbandoned } from './reservations/release-abandoned.ts'

await runService('orders', OrdersConfig, ({ config, db, logger, openPool, consume, wakeRelay }) => {
  const worker = openPool('worker', { role: 'worker', poolSize: 1 })
  const imports = openPool('imports', { role: 'app', poolSize: 4 })
  const releases = openPool('releases', { role: 'app', poolSize: 1 })
  const erasures = openPool('erasures', { role: 'app', poolSize: 1, settings: ERASURE_SETTINGS })
  const [catalog, apps, forms] = [catalogClient(config.CATALOG_URL), checkoutApps(config.APPS_URL), formValidator()]
  return {
    worker,
    operations: operations(db, catalog, forms, apps),
    components: [catalog, apps, forms],
    consumers: [consume(applyImportBatches(wakeRelay), imports)],
    workers: [
      releaseAbandoned({ db: releases, worker, logger }),
      eraseCustomers({ db: erasures, worker, logger }),
      mergeCounts(worker, logger, ['customer_count', 'order_count']),
      expireImportedChanges(worker, logger),
    ],
  }
})
