import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { z } from 'zod'

/** A variant with a stock other than the sum of its movements; the stock of a deleted variant is 0. */
export interface LedgerDifference {
  readonly workspace: string
  readonly variant: string
  /** As text, because a wrong sum may exceed the range of a number. */
  readonly stock: string
  readonly moved: string
}

const BATCH = 1000

/**
 * Compares every variant's stock with its ledger, in one snapshot. The connection has to see all workspaces, as the
 * worker role and a superuser do. PostgreSQL compares within its `work_mem`; differences are read in batches.
 */
export async function* ledgerDifferences(sql: Sql): AsyncGenerator<LedgerDifference> {
  const batches = sql<LedgerDifference[]>`
    select workspace_id as workspace, id as variant, coalesce(stock, 0)::text as stock, coalesce(moved, 0)::text as moved
    from (select workspace_id, id, stock from variant) as variant
    full join (
      select workspace_id, variant_id as id, sum(delta) as moved from stock_movement group by workspace_id, variant_id
    ) as ledger using (workspace_id, id)
    where coalesce(stock, 0) <> coalesce(moved, 0)`.cursor(BATCH)
  for await (const batch of batches) yield* batch
}

/** `npm run check-stock -w services/catalog`: prints each difference as a line of JSON and fails when there is one. */
async function main(): Promise<void> {
  const { WORKER_DATABASE_URL } = readConfig(z.object({ WORKER_DATABASE_URL: z.url() }))
  const settings = { search_path: 'catalog', statement_timeout: '0' }
  const db = openDatabase({ url: WORKER_DATABASE_URL, applicationName: 'check stock', poolSize: 1, settings })
  let differences = 0
  for await (const difference of ledgerDifferences(db.sql)) {
    differences++
    console.log(JSON.stringify(difference))
  }
  // Printed, because a role that sees no workspace finds no difference either.
  const [variants] = await db.sql<{ count: number }[]>`select count(*) from variant`
  await db.stop?.()
  console.log(`variants checked: ${variants?.count}; stocks that differ from their ledgers: ${differences}`)
  process.exitCode = differences === 0 ? 0 : 1
}

if (import.meta.main) await main()
