import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
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
 * Compares every variant's stock with its ledger, in one snapshot, on a connection that sees all workspaces. PostgreSQL
 * compares within its `work_mem`; differences are read in batches.
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
async function checkStock(): Promise<number> {
  const server = workerServer(readConfig(z.object(WORKER_DATABASE)))
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const settings = { search_path: 'catalog', statement_timeout: '0' }
  const db = openDatabase({ ...server, applicationName: 'check stock', poolSize: 1, settings })
  try {
    let differences = 0
    for await (const difference of ledgerDifferences(db.sql)) {
      differences++
      console.log(JSON.stringify(difference))
    }
    // Printed, because a role that sees no workspace finds no difference either.
    const [variants] = await db.sql<{ count: number }[]>`select count(*) from variant`
    console.log(`variants checked: ${variants?.count}; stocks that differ from their ledgers: ${differences}`)
    return differences === 0 ? 0 : 1
  } finally {
    await db.stop?.()
  }
}

if (import.meta.main) await runCommand(checkStock, 1)
