import { expireImportedChanges } from '@backoffice/importing/expire-imported-changes.ts'
import { writeMoreWords } from '@backoffice/postgres/lists/write-more-words.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { addAssetFiles } from './assets/serve-assets.ts'
import { assetStorage, CatalogConfig } from './config.ts'
import { applyImportBatches } from './imports/importers.ts'
import { applyMemberChanges } from './member-changes/apply-member-changes.ts'
import { operations } from './operations.ts'
import { POOLS } from './pools.ts'
import { productTombstone } from './products/product-records.ts'
import { measureRefresh, refreshProducts } from './products/refresh-products.ts'
import { reduceReservations } from './stock/reduce-reservations.ts'
import { releaseReservations } from './stock/release-reservations.ts'

await runService('catalog', CatalogConfig, POOLS, ({ config, db, logger, pools, consume, wakeRelay }) => {
  const storage = assetStorage(config)
  const { worker, refresh: refreshes, imports, releases } = pools
  return {
    worker,
    operations: operations({ db, logger, storage, storedBytes: config.STORED_BYTES_PER_WORKSPACE }),
    addRoutes: (app) => addAssetFiles(app, storage),
    components: [storage],
    workspaces: { files: storage, recordsOfDeleted: { product: productTombstone } },
    consumers: [
      consume(applyImportBatches(wakeRelay), imports),
      consume(releaseReservations, releases),
      consume(reduceReservations, releases),
    ],
    workers: [
      refreshProducts({ db: refreshes, worker, logger }),
      applyMemberChanges({ db: refreshes, worker, logger }),
      writeMoreWords('product', { db: refreshes, worker, logger }),
      mergeCounts(worker, logger, ['product_count']),
      expireImportedChanges(worker, logger),
      measureRefresh(worker, logger),
    ],
  }
})
