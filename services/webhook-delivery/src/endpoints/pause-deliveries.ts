import type { Transaction } from '@backoffice/postgres/database.ts'
import type { WorkspaceHooks } from '@backoffice/service/workspaces/workspace-hooks.ts'
import { endpointsChanged } from './endpoint.ts'

/** Deliveries of a suspended or deleted workspace wait: dispatchers read its state with its endpoints. */
export const pauseDeliveries: WorkspaceHooks = {
  onSuspended: (tx, at) => save(tx, at, false),
  onResumed: (tx, at) => save(tx, at, true),
  onDeleted: endpointsChanged,
}

/** A record that comes again, or after a later one, changes nothing. */
async function save(tx: Transaction, at: Date, isResumed: boolean): Promise<void> {
  const saved = await tx`
    insert into suspended_workspace as known (workspace_id, changed_at, resumed_at)
    values (${tx.context.workspaceId}, ${at}, case when ${isResumed} then clock_timestamp() end)
    on conflict (workspace_id) do update set changed_at = excluded.changed_at, resumed_at = excluded.resumed_at
      where known.changed_at < excluded.changed_at`
  if (saved.count > 0) await endpointsChanged(tx)
}
