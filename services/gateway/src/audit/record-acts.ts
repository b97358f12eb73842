import type { Transaction } from '@backoffice/postgres/database.ts'

/** Something an operator did: `action` in the past tense, `target` as a path under /admin/v1. Never holds a secret. */
export interface Act {
  readonly action: 'workspace.created' | 'settings.updated' | 'key.created' | 'key.rotated' | 'key.revoked'
  readonly target: string
}

/** Writes acts to the audit log in the transaction that does them (OP-86). */
export async function recordActs(
  tx: Transaction,
  acts: readonly Act[],
  { actor, requestId }: { readonly actor: string; readonly requestId: string },
  at: Date,
): Promise<void> {
  const rows = acts.map(({ action, target }) => ({
    workspace_id: tx.context.workspaceId,
    at,
    actor,
    action,
    target,
    request_id: requestId,
  }))
  await tx`insert into audit ${tx(rows)}`
}
