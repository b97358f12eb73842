import { Timestamp } from '@backoffice/contracts/fields.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { unknownWorkspace, WorkspaceHead, type WorkspaceRow } from './find-workspace.ts'

export const WorkspaceStatus = WorkspaceHead.extend({
  status: z.enum(['ACTIVE', 'SUSPENDED']),
  suspended_at: Timestamp.nullable(),
  suspension_reason: z.string().nullable(),
})

interface StatusRow extends WorkspaceRow {
  readonly status: 'ACTIVE' | 'SUSPENDED'
  readonly suspended_at: Date | null
  readonly suspension_reason: string | null
  readonly suspended_by_live: boolean
}

/** Locks the transaction's workspace and returns its state. Throws `not_found`. */
export async function lockWorkspace(tx: Transaction): Promise<StatusRow> {
  const { workspaceId } = tx.context
  const [row] = await tx<StatusRow[]>`
    select
      id, name, domain, livemode, case when suspended_at is null then 'ACTIVE' else 'SUSPENDED' end as status,
      suspended_at, suspension_reason, suspended_by_live
    from workspace where id = ${workspaceId} and deleted_at is null for no key update`
  if (row === undefined) throw unknownWorkspace(workspaceId)
  return row
}

export const statusView = ({ suspended_by_live: _, ...row }: StatusRow) => row
