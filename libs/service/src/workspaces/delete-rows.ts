import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import type { PendingQuery, Row } from 'postgres'
import type { WorkspaceHooks } from './workspace-hooks.ts'
import { isAboutWorkspaces, type WorkspaceTable } from './workspace-tables.ts'

/** Rows deleted in one transaction: its locks last for a fraction of a second. */
const BATCH_SIZE = 500

/**
 * Deletes a batch of the workspace's rows, tables in the order given, and publishes the records that the service
 * declares. Returns the number of rows; 0 when none is left that can be deleted.
 */
export async function deleteRows(
  tx: Transaction,
  tables: readonly WorkspaceTable[],
  { recordsOfDeleted = {} }: WorkspaceHooks,
  now: Date,
): Promise<number> {
  let deleted = 0
  for (const table of tables) {
    if (deleted >= BATCH_SIZE) break
    const recordOf = recordsOfDeleted[table.name]
    const returning = recordOf ? tx`returning id` : tx``
    const rows = await deleteFrom(tx, table, BATCH_SIZE - deleted, returning)
    deleted += rows.count
    if (recordOf) {
      const records = rows.map(({ id }) => recordOf(id))
      await publish(tx, records, now)
    }
  }
  return deleted
}

type Fragment = PendingQuery<Row[]>

/**
 * Deletes rows by their ctid, since some tables have no primary key. Among partitions a ctid is unique only with the
 * partition's oid; the first condition alone is what PostgreSQL finds the rows by.
 */
const deleteFrom = (tx: Transaction, table: WorkspaceTable, limit: number, returning: Fragment) => tx<{ id: string }[]>`
  with chosen as materialized (
    select tableoid, ctid from ${tx(table.name)} as candidate
    where ${tx(table.column)} = ${tx.context.workspaceId} ${withoutChildren(tx, table)} ${unlessWaiting(tx, table)}
    limit ${limit}
  )
  delete from ${tx(table.name)}
  where ctid = any(array(select ctid from chosen)) and (tableoid, ctid) in (select tableoid, ctid from chosen)
  ${returning}`

/** Rows that no other row of the table refers to: a parent goes in a later batch than its children. */
function withoutChildren(tx: Transaction, { name, parent }: WorkspaceTable): Fragment {
  if (parent.length === 0) return tx``
  const references = parent.map(({ from, to }) => tx`child.${tx(from)} = candidate.${tx(to)}`)
  return tx`and not exists (
    select from ${tx(name)} as child
    where ${references.reduce((all, reference) => tx`${all} and ${reference}`)} and child.ctid <> candidate.ctid
  )`
}

/**
 * Excludes records about workspaces, which the relay deletes an hour after it has published them, and tombstones that
 * wait to be published. Without them other services would keep the workspace, and a rebuilt projection would have its
 * rows again.
 */
const unlessWaiting = (tx: Transaction, { name }: WorkspaceTable): Fragment =>
  name === 'outbox'
    ? tx`and not ${isAboutWorkspaces(tx)} and (
        payload is not null or published_at is not null or (refused is not null and retry_at is null)
      )`
    : tx``
