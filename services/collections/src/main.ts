import { expireImportedChanges } from '@backoffice/importing/expire-imported-changes.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { callsToCatalog } from './calls-to-catalog.ts'
import { CollectionsConfig } from './config.ts'
import { applyImportBatches } from './imports/importers.ts'
import { completePendingProducts } from './members/pending-products.ts'
import { checkMembers } from './memberships/check-members.ts'
import { membershipBuilder } from './memberships/membership-builder.ts'
import { rebuildSkippedVersions } from './memberships/rebuild-skipped-versions.ts'
import { ruleSets } from './memberships/rule-sets.ts'
import { measureUnreadable, UnreadableVersions } from './memberships/unreadable-versions.ts'
import { operations } from './operations.ts'
import { POOLS } from './pools.ts'
import { applyQueuedProducts } from './products/apply-queued-products.ts'
import { expireDeletedProducts } from './products/delete-products.ts'
import { projectProducts } from './products/project-products.ts'
import { measureQueue } from './products/queue-products.ts'

await runService('collections', CollectionsConfig, POOLS, ({ config, tokens, logger, pools, consume, wakeRelay }) => {
  const { worker, products, imports } = pools
  const unreadable = new UnreadableVersions(logger)
  const rules = ruleSets(unreadable)
  const queue = applyQueuedProducts(worker.sql, rules, logger)
  const onQueued = () => {
    for (const { wake } of queue) wake()
  }
  const catalog = callsToCatalog(config.CATALOG_URL, tokens.signer)
  return {
    worker,
    components: [catalog],
    operations: operations(catalog),
    checks: { 'check-members': checkMembers },
    consumers: [consume(projectProducts(rules, onQueued), products), consume(applyImportBatches(wakeRelay), imports)],
    workers: [
      ...queue,
      completePendingProducts(worker.sql, logger),
      membershipBuilder(worker.sql, logger, unreadable),
      rebuildSkippedVersions(worker.sql, logger, unreadable),
      expireDeletedProducts(worker.sql, logger),
      mergeCounts(worker, logger, ['collection_member_count']),
      expireImportedChanges(worker, logger),
      measureQueue(worker, logger),
      measureUnreadable(worker, logger, unreadable),
    ],
  }
})
