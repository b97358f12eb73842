import { notFound } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The workspace, live or sandbox, of the transaction. Throws `not_found` when it does not exist or is deleted. */
export async function ownWorkspace(tx: Transaction) {
  const { workspaceId } = tx.context
  const [workspace] = await tx<{ id: string; name: string; domain: string | null; livemode: boolean }[]>`
    select id, name, domain, livemode from workspace where id = ${workspaceId} and deleted_at is null`
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  return workspace
}

export const unknownWorkspace = (id: string) => notFound([], `Workspace ${id} does not exist`)
