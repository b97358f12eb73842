import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * The part of a statement that lets products which join the categories of the CTE `changed` at this very moment, and have read
 * them as they were, be published once more (OP-37; 0008_categories.sql). The categories must be locked for update.
 */
export const tellJoining = (tx: Transaction, changed: string) => tx`
  insert into category_change (workspace_id, category_id, livemode, traceparent, changed_at)
  select ${tx.context.workspaceId}, id, ${tx.context.livemode}, ${tx.context.traceparent}, clock_timestamp()
  from ${tx(changed)} order by id
  on conflict (workspace_id, category_id) do update set traceparent = excluded.traceparent, changed_at = excluded.changed_at`
