import type { Transaction } from '@backoffice/postgres/database.ts'

/** Requests, in the transaction that deletes a customer, that his personal data is removed (erase-customers.ts). */
export const requestErasure = (tx: Transaction, customer: string, now: Date) => tx`
  insert into customer_erasure (workspace_id, id, stage, created_at)
  values (${tx.context.workspaceId}, ${customer}, 'ORDERS', ${now})`
