import { notFound } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** A workspace's row, live or sandbox. */
export interface WorkspaceRow {
  readonly id: string
  readonly name: string
  readonly domain: string | null
  readonly livemode: boolean
}

/** The workspace that a transaction acts in. Throws `not_found` when there is none with that id. */
export async function ownWorkspace(tx: Transaction): Promise<WorkspaceRow> {
  const { workspaceId } = tx.context
  const [workspace] = await tx<WorkspaceRow[]>`
    select id, name, domain, livemode from workspace where id = ${workspaceId}`
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  return workspace
}

export const unknownWorkspace = (id: string) => notFound(`Workspace ${id} does not exist`)
