import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Notes in the transaction of a change that the workspace's endpoints are no longer what they were, so that every process
 * that keeps them reads them anew. Comes after the endpoint's row is locked: then no two changes wait for each other.
 */
export async function endpointsChanged(tx: Transaction): Promise<void> {
  await tx`
    insert into endpoint_set (workspace_id, version) values (${tx.context.workspaceId}, 1)
    on conflict (workspace_id) do update set version = endpoint_set.version + 1`
}
