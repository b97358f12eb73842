import { expireImportedChanges } from '@backoffice/messaging/expire-imported-changes.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { addAssetFiles } from './assets/serve-assets.ts'
import { assetStorage, CatalogConfig } from './config.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { operations } from './operations.ts'
import { productTombstone } from './products/product-records.ts'
import { refreshProducts } from './products/refresh-products.ts'
import { releaseReservations } from './stock/release-reservations.ts'

/** A refresh leaves a locked product for later, so that other workspaces do not wait for the lock. */
const REFRESH_SETTINGS = { ...PLAN_EACH_TIME, lock_timeout: '1s' }

await runService('catalog', CatalogConfig, ({ config, db, logger, openPool, consume, wakeRelay }) => {
  const storage = assetStorage(config)
  const worker = openPool('worker', { role: 'worker', poolSize: 1 })
  const refreshes = openPool('refresh', { role: 'app', poolSize: 1, settings: REFRESH_SETTINGS })
  const imports = openPool('imports', { role: 'app', poolSize: 4 })
  const releases = openPool('releases', { role: 'app', poolSize: 3 })
  return {
    worker,
    operations: operations({ db, logger, storage, storedBytes: config.STORED_BYTES_PER_WORKSPACE }),
    addRoutes: (app) => addAssetFiles(app, storage),
    components: [storage],
    workspaces: { files: storage, recordsOfDeleted: { product: productTombstone } },
    consumers: [consume(applyImportBatches(wakeRelay), imports), consume(releaseReservations, releases)],
    workers: [
      refreshProducts({ db: refreshes, worker, logger }),
      mergeCounts(worker, logger, ['product_count']),
      expireImportedChanges(worker, logger),
    ],
  }
})
