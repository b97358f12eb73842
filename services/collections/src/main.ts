import { expireImportedChanges } from '@backoffice/messaging/expire-imported-changes.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { coverImages } from './collections/cover-image.ts'
import { CollectionsConfig } from './config.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { membershipBuilder } from './memberships/membership-builder.ts'
import { ruleSets } from './memberships/rule-sets.ts'
import { operations } from './operations.ts'
import { applyQueuedProducts } from './products/apply-queued-products.ts'
import { expireDeletedProducts } from './products/expire-deleted-products.ts'
import { projectProducts } from './products/project-products.ts'

await runService('collections', CollectionsConfig, ({ config, logger, openPool, consume, wakeRelay }) => {
  const worker = openPool('worker', { role: 'worker', poolSize: 10, settings: PLAN_EACH_TIME })
  const imports = openPool('imports', { role: 'app', poolSize: 4 })
  const rules = ruleSets()
  const queue = applyQueuedProducts(worker.sql, rules, logger)
  return {
    worker,
    operations: operations(coverImages(config.CATALOG_URL)),
    consumers: [consume(projectProducts(rules, queue.wake), worker), consume(applyImportBatches(wakeRelay), imports)],
    workers: [
      queue,
      membershipBuilder(worker.sql, logger),
      expireDeletedProducts(worker.sql, logger),
      mergeCounts(worker, logger, ['collection_member_count']),
      expireImportedChanges(worker, logger),
    ],
  }
})
