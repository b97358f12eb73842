import { runService } from '@backoffice/service/run-service.ts'
import { catalogClient } from './catalog/catalog-client.ts'
import { OrdersConfig } from './config.ts'
import { formValidator } from './form/form-validator.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { operations } from './operations.ts'

await runService('orders', OrdersConfig, ({ config, db, openPool, consume, wakeRelay }) => {
  const worker = openPool('worker', { role: 'worker', poolSize: 1 })
  const imports = openPool('imports', { role: 'app', poolSize: 4 })
  const forms = formValidator()
  return {
    worker,
    operations: operations(db, catalogClient(config.CATALOG_URL), forms),
    components: [forms],
    consumers: [consume(applyImportBatches(wakeRelay), imports)],
  }
})
