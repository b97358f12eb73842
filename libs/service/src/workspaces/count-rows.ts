import type { Transaction } from '@backoffice/postgres/database.ts'
import type { WorkspaceTable } from './workspace-tables.ts'

/** Rows, and files, are counted up to this number. */
export const COUNTED_AT_MOST = 10_000

/**
 * The number of rows of the transaction's workspace by table, each counted up to ten thousand. One statement, so a row
 * that moves from one table to another meanwhile is counted.
 */
export async function countRows(tx: Transaction, tables: readonly WorkspaceTable[]): Promise<Record<string, number>> {
  const [first, ...others] = tables.map(
    ({ name, column }) => tx`
      select ${name} as name, (select count(*) from (
        select from ${tx(name)} where ${tx(column)} = ${tx.context.workspaceId} limit ${COUNTED_AT_MOST}
      ) as counted)::int as rows`,
  )
  if (first === undefined) return {}
  const counts = await tx<{ name: string; rows: number }[]>`
    ${others.reduce((all, one) => tx`${all} union all ${one}`, first)}`
  return Object.fromEntries(counts.map(({ name, rows }) => [name, rows]))
}

/**
 * Has the rest of the transaction read by indexes, and plan for this workspace. Otherwise PostgreSQL may read a whole
 * table to find that the workspace has no row in it.
 */
export async function readByIndexes(tx: Transaction): Promise<void> {
  await tx`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('plan_cache_mode', 'force_custom_plan', true), set_config('lock_timeout', '2s', true)`
}
