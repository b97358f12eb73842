import { expireImportedChanges } from '@backoffice/importing/expire-imported-changes.ts'
import { guardedAgent, KEEP } from '@backoffice/outbound/guarded-agent.ts'
import { writeMoreWords } from '@backoffice/postgres/lists/write-more-words.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { imageWork } from './assets/image-work.ts'
import { addAssetFiles } from './assets/serve-assets.ts'
import { assetStorage, CatalogConfig } from './config.ts'
import { fetchImages } from './images/fetch-images.ts'
import { applyImportBatches } from './imports/importers.ts'
import { applyMemberChanges } from './member-changes/apply-member-changes.ts'
import { operations } from './operations.ts'
import { POOLS } from './pools.ts'
import { productTombstone } from './products/product-records.ts'
import { measureRefresh, refreshProducts } from './products/refresh-products.ts'
import { checkStock } from './stock/check-ledger.ts'
import { applyQueuedStock, measureQueuedStock } from './stock/queued-stock.ts'
import { readTaken } from './stock/read-taken.ts'
import { reduceReservations, releaseReservations } from './stock/stock-consumers.ts'

/** Few stay open: the images of a file come from one host or two. A response is larger than an image by its headers. */
const IMAGE_CONNECTIONS = { ...KEEP, perOrigin: 4, inAll: 24, responseMiB: 21 }

await runService('catalog', CatalogConfig, POOLS, ({ config, db, logger, pools, consume, wakeRelay }) => {
  const storage = assetStorage(config)
  const { worker, refresh: refreshes, images, imports, releases } = pools
  const storedBytes = config.STORED_BYTES_PER_WORKSPACE
  const uploading = { storage, logger, normalizeImage: imageWork(logger), storedBytes }
  const policy = { allowLoopback: config.IMAGES_ALLOW_LOOPBACK }
  const agent = guardedAgent(policy, { proxy: config.EGRESS_PROXY_URL, keep: IMAGE_CONNECTIONS })
  return {
    worker,
    operations: [...operations({ ...uploading, db }), readTaken(worker)],
    checks: { 'check-stock': checkStock },
    addRoutes: (app) => addAssetFiles(app, storage),
    components: [storage, { name: 'image connections', stop: () => agent.destroy() }],
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
      applyQueuedStock({ db: releases, worker, logger }),
      measureQueuedStock(worker, logger),
      fetchImages({ ...uploading, policy, agent, db: images, worker }),
    ],
  }
})
