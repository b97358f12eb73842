import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { unknownWorkspace } from './find-workspace.ts'

/** A workspace, live or sandbox, with its status. */
export const WorkspaceStatus = z.strictObject({
  id: Id,
  name: z.string(),
  domain: z.string().nullable(),
  livemode: z.boolean(),
  status: z.enum(['ACTIVE', 'SUSPENDED']),
  suspended_at: Timestamp.nullable(),
  suspension_reason: z.string().nullable(),
})

interface StatusRow {
  id: string
  name: string
  domain: string | null
  livemode: boolean
  suspended_at: Date | null
  suspension_reason: string | null
  suspended_by_live: boolean
}

/** Locks the transaction's workspace and returns its state. Throws `not_found`. */
export async function lockWorkspace(tx: Transaction): Promise<StatusRow> {
  const { workspaceId } = tx.context
  const [row] = await tx<StatusRow[]>`
    select id, name, domain, livemode, suspended_at, suspension_reason, suspended_by_live
    from workspace where id = ${workspaceId} and deleted_at is null for no key update`
  if (row === undefined) throw unknownWorkspace(workspaceId)
  return row
}

/** The answer's body. */
export const statusView = ({
  suspended_at,
  suspended_by_live: _,
  ...row
}: StatusRow): z.output<typeof WorkspaceStatus> => ({
  ...row,
  status: suspended_at === null ? 'ACTIVE' : 'SUSPENDED',
  suspended_at: suspended_at?.toISOString() ?? null,
})
