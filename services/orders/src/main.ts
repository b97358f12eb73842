import { runService } from '@backoffice/service/run-service.ts'
import { catalogClient } from './catalog/catalog-client.ts'
import { OrdersConfig } from './config.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { operations } from './operations.ts'
import { releaseAbandoned } from './reservations/release-abandoned.ts'

await runService('orders', OrdersConfig, ({ config, logger, db, openPool, consume, wakeRelay }) => {
  const worker = openPool('worker', { role: 'worker', poolSize: 1 })
  const imports = openPool('imports', { role: 'app', poolSize: 4 })
  const catalog = catalogClient(config.CATALOG_URL)
  return {
    worker,
    operations: operations(db, catalog),
    components: [catalog],
    consumers: [consume(applyImportBatches(wakeRelay), imports)],
    workers: [releaseAbandoned({ db, worker, logger })],
  }
})
