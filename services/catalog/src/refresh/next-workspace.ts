import type { Database, WorkspaceContext } from '@backoffice/postgres/database.ts'

/**
 * The next workspace after `last` with rows in a table of waiting work; undefined after the last one, and the caller
 * starts again. `worker` connects as the worker role. `actor` is the name of the worker.
 */
export async function nextWorkspace(
  worker: Database,
  table: 'product_refresh' | 'member_change',
  last: string | undefined,
  actor: string,
): Promise<WorkspaceContext | undefined> {
  const { sql } = worker
  const [next] = await sql<{ workspace_id: string; livemode: boolean; traceparent: string }[]>`
    select workspace_id, livemode, traceparent from ${sql(table)}
    where workspace_id > ${last ?? '00000000-0000-0000-0000-000000000000'}
    order by workspace_id, id limit 1`
  if (next === undefined) return undefined
  const { workspace_id: workspaceId, ...rest } = next
  return { workspaceId, actor, ...rest }
}
