import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** What every answer has of a workspace, live or sandbox. */
export const WorkspaceHead = z.strictObject({
  id: Id,
  name: z.string(),
  domain: z.string().nullable(),
  livemode: z.boolean(),
})
type WorkspaceRow = z.output<typeof WorkspaceHead>

export const WorkspaceStatus = WorkspaceHead.extend({
  status: z.enum(['ACTIVE', 'SUSPENDED']),
  suspended_at: Timestamp.nullable(),
  suspension_reason: z.string().nullable(),
})

export const statusOf = (sql: AnySql): SqlPart => sql`case when suspended_at is null then 'ACTIVE' else 'SUSPENDED' end`

/** The sandbox of a live workspace; null where there is none. */
export const sandboxOf = (sql: AnySql): SqlPart => sql`(
  select json_build_object('id', id, 'livemode', livemode) from workspace as sandbox
  where sandbox.parent = workspace.id and not sandbox.livemode and deleted_at is null
)`

/** A workspace, live or sandbox. Throws `not_found` when it does not exist or is deleted. */
export async function findWorkspace(worker: AnySql, id: string): Promise<WorkspaceRow> {
  const [workspace] = await worker<WorkspaceRow[]>`
    select id, name, domain, livemode from workspace where id = ${id} and deleted_at is null`
  if (workspace === undefined) throw unknownWorkspace(id)
  return workspace
}

/**
 * The workspace, live or sandbox, of the transaction; it is not deleted, reset or suspended before the transaction
 * ends. Throws `not_found` when it does not exist or is deleted.
 */
export async function ownWorkspace(tx: Transaction): Promise<WorkspaceRow> {
  const { workspaceId } = tx.context
  const [workspace] = await tx<WorkspaceRow[]>`
    select id, name, domain, livemode from workspace where id = ${workspaceId} and deleted_at is null for share`
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  return workspace
}

/**
 * Locks the row of the transaction's workspace, also of one that is deleted. What changes a live workspace with its
 * sandbox, or replaces the sandbox, locks the live one first: a later statement sees the sandbox that is there then.
 */
export const lockRow = (tx: Transaction) =>
  tx`select from workspace where id = ${tx.context.workspaceId} for no key update`

type Suspension = Pick<z.output<typeof WorkspaceStatus>, 'status'> & { readonly suspended_by_live: boolean }

/** Locks the transaction's workspace and returns its WorkspaceStatus and `suspended_by_live`. Throws `not_found`. */
export async function lockWorkspace(tx: Transaction) {
  const { workspaceId } = tx.context
  const [row] = await tx<(WorkspaceRow & Suspension)[]>`
    select
      id, name, domain, livemode, ${statusOf(tx)} as status,
      suspended_at, suspension_reason, suspended_by_live
    from workspace where id = ${workspaceId} and deleted_at is null for no key update`
  if (row === undefined) throw unknownWorkspace(workspaceId)
  const { suspended_by_live, ...status } = row
  return { suspended_by_live, status }
}

/** Throws `conflict` when the transaction's workspace is suspended. It is not suspended before the transaction ends. */
export async function refuseSuspended(tx: Transaction): Promise<void> {
  const { status } = await lockWorkspace(tx)
  if (status.status === 'SUSPENDED') throw conflict([], 'the workspace is suspended; resume it first')
}

/**
 * When a suspension or resumption of a locked row occurred: always after the one before, also when this request began
 * earlier, or the clock went back. Webhook delivery ignores what is not later than what it knows.
 */
export const statusChangedAt = (sql: AnySql, now: Date): SqlPart =>
  sql`greatest(${now}, greatest(status_changed_at, suspended_at) + interval '1 millisecond')`

export const unknownWorkspace = (id: string) => notFound([], `Workspace ${id} does not exist`)
