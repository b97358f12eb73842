import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { catalogClient } from './catalog/catalog-client.ts'
import { OrdersConfig } from './config.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { operations } from './operations.ts'

await runService('orders', OrdersConfig, ({ config, logger, db, openPool, consume, wakeRelay }) => {
  const worker = openPool('worker', { role: 'worker', poolSize: 1 })
  const imports = openPool('imports', { role: 'app', poolSize: 4 })
  return {
    worker,
    operations: operations(db, catalogClient(config.CATALOG_URL)),
    consumers: [consume(applyImportBatches(wakeRelay), imports)],
    workers: [mergeCounts(worker, logger, ['order_count'])],
  }
})
