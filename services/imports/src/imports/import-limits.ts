import type { Transaction } from '@backoffice/postgres/database.ts'

/** Imports of a workspace that may wait for validation, and as many that may be applied or wait for it (OP-150). */
const MAX_WAITING = 100

/** The files of a workspace that wait to be validated. */
export const IMPORTS_TO_VALIDATE = {
  name: 'imports_to_validate',
  most: MAX_WAITING,
  used: (tx: Transaction) => tx`
    select count(*) from import
    where workspace_id = ${tx.context.workspaceId} and status in ('UPLOADED', 'VALIDATING')`,
}

/** The imports of a workspace that are applied, or wait for it. */
export const IMPORTS_TO_APPLY = {
  name: 'imports_to_apply',
  most: MAX_WAITING,
  used: (tx: Transaction) => tx`
    select count(*) from import
    where workspace_id = ${tx.context.workspaceId} and started_at is not null and ended_at is null`,
}
