import type { Sql } from '@backoffice/postgres/database.ts'
import type { Check } from '@backoffice/service/checks/check.ts'

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

/** Reports each difference. */
export const checkStock: Check = {
  async run({ sql, report }) {
    for await (const difference of ledgerDifferences(sql)) report(difference)
    const [checked] = await sql<[{ variants: number }]>`select count(*)::integer as variants from variant`
    return { variants: checked.variants }
  },
}
