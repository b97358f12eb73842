import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Locks the workspace's category tree, and the categories of the condition in id order, so that no product joins them
 * meanwhile. Read them in a later statement.
 */
export async function lockCategories(tx: Transaction, condition: SqlPart): Promise<void> {
  const workspace = tx.context.workspaceId
  // The same lock as for a change of one category: see lock-category.ts.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${workspace} categories`}, 0))`
  await tx`select id from category where workspace_id = ${workspace} and ${condition} order by id for update`
}
