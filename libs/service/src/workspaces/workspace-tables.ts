import { TOPICS, type Topic } from '@backoffice/contracts/events.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import type { WorkspaceHooks } from './workspace-hooks.ts'

export interface WorkspaceTable {
  readonly name: string
  /** The column with the workspace's id. */
  readonly column: string
  /** The columns of a foreign key to the table itself, with the columns they refer to. */
  readonly parent: readonly { readonly from: string; readonly to: string }[]
  /** The other tables that its foreign keys refer to. */
  readonly refersTo: readonly string[]
}

/**
 * The tables with rows of workspaces, from PostgreSQL's catalogue: those with a column `workspace_id`, and `workspace`.
 * A table comes after all that refer to it, for deletion in this order. Throws for references in a circle.
 */
export async function workspaceTables(sql: AnySql, keptTables: readonly string[] = []): Promise<WorkspaceTable[]> {
  const tables = await sql<WorkspaceTable[]>`
    select relname as name, attname as column,
      array(
        select json_build_object('from', source.attname, 'to', target.attname)
        from pg_constraint, unnest(conkey, confkey) as pair (source, target)
        join pg_attribute as source on source.attnum = pair.source
        join pg_attribute as target on target.attnum = pair.target
        where contype = 'f' and conrelid = pg_class.oid and confrelid = pg_class.oid
          and source.attrelid = pg_class.oid and target.attrelid = pg_class.oid
      ) as parent,
      array(
        select distinct target.relname::text
        from pg_constraint join pg_class as target on target.oid = confrelid
        where contype = 'f' and conrelid = pg_class.oid and confrelid <> pg_class.oid and conparentid = 0
      ) as "refersTo"
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and (attname = 'workspace_id' or (relname = 'workspace' and attname = 'id')) and not attisdropped
      and relname <> 'deleted_workspace' and relname <> all(${[...keptTables]}::text[])
    order by relname`
  return inOrder(tables)
}

/** Puts each table after all that refer to it, and the outbox last. */
function inOrder(tables: readonly WorkspaceTable[]): WorkspaceTable[] {
  const ordered: WorkspaceTable[] = []
  for (let left = [...tables]; left.length > 0; ) {
    const next = left.filter(({ name }) => !left.some(({ refersTo }) => refersTo.includes(name)))
    if (next.length === 0) throw new Error(`tables refer to each other in a circle: ${left.map(({ name }) => name)}`)
    ordered.push(...next)
    left = left.filter((table) => !next.includes(table))
  }
  // Last, since tombstones that wait there would be read again with each batch of other rows.
  const isOutbox = ({ name }: WorkspaceTable) => name === 'outbox'
  return [...ordered.filter((table) => !isOutbox(table)), ...ordered.filter(isOutbox)]
}

/** Topics whose records say what happens to a workspace: other services have to learn that it is deleted. */
const ABOUT_WORKSPACES: readonly Topic[] = [TOPICS.gatewayWorkspaces, TOPICS.appsActs]

/** Whether a row of the outbox is about a workspace, more than a row of it. */
export const isAboutWorkspaces = (tx: AnySql) => tx`topic = any(${[...ABOUT_WORKSPACES]})`

/** Rows, and files, are counted up to this number. */
export const COUNTED_AT_MOST = 10_000

/**
 * The number of rows of the transaction's workspace by table that has any, up to ten thousand each: one statement, so
 * that a row that moves is counted. Records about workspaces count until they are published.
 */
export async function rowsOf(tx: Transaction, { keptTables }: WorkspaceHooks): Promise<Record<string, number>> {
  await readByIndexes(tx)
  const counts = (await workspaceTables(tx, keptTables)).map(
    ({ name, column }) => tx`
      select ${name} as name, (select count(*) from (
        select from ${tx(name)} where ${tx(column)} = ${tx.context.workspaceId}
          ${name === 'outbox' ? tx`and not (${isAboutWorkspaces(tx)} and (published_at is not null or overtaken))` : tx``}
        limit ${COUNTED_AT_MOST}
      ) as counted)::int as rows`,
  )
  const found = await tx<{ name: string; rows: number }[]>`
    select name, rows from (${counts.reduce((all, count) => tx`${all} union all ${count}`)}) as counted where rows > 0`
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows]))
}

/** Has the transaction read by indexes. PostgreSQL may else read a whole table to find no row of the workspace. */
export async function readByIndexes(tx: Transaction): Promise<void> {
  await tx`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('plan_cache_mode', 'force_custom_plan', true), set_config('lock_timeout', '2s', true)`
}
