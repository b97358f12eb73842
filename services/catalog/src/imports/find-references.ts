import type { ImportBatch } from '@backoffice/messaging/import-batches.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type FoundReferences, resolveReferences, type WantedReferences } from '../products/references.ts'

/**
 * What rows refer to; options and tags are made where missing, and no event tells of them (OP-72). The lock that is taken for
 * a slug is this import's own: imports choose slugs elsewhere.
 */
export async function findReferences(
  tx: Transaction,
  wanted: Partial<WantedReferences>,
  batch: ImportBatch,
  now: Date,
): Promise<FoundReferences> {
  const nothing = { options: [], categoryIds: [], categorySlugs: [], categoryName: undefined, tags: [], assetIds: [] }
  const { found } = await resolveReferences(tx, { ...nothing, ...wanted }, `import ${batch.import_id}`, now)
  return found
}
