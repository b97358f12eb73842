import { notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** What every answer has of a workspace, live or sandbox. */
export const WorkspaceHead = z.strictObject({
  id: Id,
  name: z.string(),
  domain: z.string().nullable(),
  livemode: z.boolean(),
})
export type WorkspaceRow = z.output<typeof WorkspaceHead>

/** A workspace, live or sandbox, also a deleted one. Throws `not_found`. */
export async function findWorkspace(worker: AnySql, id: string): Promise<WorkspaceRow> {
  const [workspace] = await worker<WorkspaceRow[]>`select id, name, domain, livemode from workspace where id = ${id}`
  if (workspace === undefined) throw unknownWorkspace(id)
  return workspace
}

/** The workspace, live or sandbox, of the transaction. Throws `not_found` when it does not exist or is deleted. */
export async function ownWorkspace(tx: Transaction): Promise<WorkspaceRow> {
  const { workspaceId } = tx.context
  const [workspace] = await tx<WorkspaceRow[]>`
    select id, name, domain, livemode from workspace where id = ${workspaceId} and deleted_at is null`
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  return workspace
}

export const unknownWorkspace = (id: string) => notFound([], `Workspace ${id} does not exist`)
