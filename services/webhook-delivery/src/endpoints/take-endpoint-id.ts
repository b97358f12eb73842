import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Takes an id for the endpoint of an app, once: returns false when it was taken before. A request to create the endpoint and one to
 * delete it wait for each other here, so that the endpoint is gone in the end, whichever comes first.
 */
export async function takeEndpointId(tx: Transaction, id: string): Promise<boolean> {
  const { count } = await tx`
    insert into app_endpoint (workspace_id, id) values (${tx.context.workspaceId}, ${id}) on conflict do nothing`
  return count > 0
}
