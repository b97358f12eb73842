import { badRequest } from '@backoffice/contracts/errors.ts'
import { CustomerRow } from '@backoffice/contracts/imports.ts'
import type { ImportBatch } from '@backoffice/messaging/import-batches.ts'
import { type Row, RowOutcomes } from '@backoffice/messaging/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type CustomerRecord, customerColumns, emailKey, newCustomer, withChanges } from '../customers/customer.ts'
import { insertCustomers, updateCustomers } from '../customers/write-customers.ts'

/**
 * Applies rows of the template `customers` (OP-54, OP-131) by the rules of POST and PUT /v1/customers: updates the customer with the
 * row's e-mail address, or creates it. The spelling of a known address stays.
 */
export async function importCustomers(tx: Transaction, batch: ImportBatch, now: Date): Promise<RowOutcomes> {
  const outcomes = new RowOutcomes()
  const rows = outcomes.read(CustomerRow, 'email', batch.rows, emailKey)
  const before = await lockCustomers(tx, rows)
  const created: CustomerRecord[] = []
  const updated: CustomerRecord[] = []
  for (const row of rows) {
    const current = before.get(emailKey(row.values.email))
    const next = outcomes.attempt(row, () => planRow(row.values, current, now))
    if (next === undefined) continue
    outcomes.applied(row, current === undefined ? 'created' : 'updated')
    if (current === undefined) created.push(next)
    else if (next !== current) updated.push(next)
  }
  await insertCustomers(tx, created)
  await updateCustomers(tx, updated)
  return outcomes
}

/**
 * Locks the customers with the rows' e-mail addresses in id order. A customer that is created later with one of them violates the
 * unique index, and the batch runs again.
 */
async function lockCustomers(
  tx: Transaction,
  rows: readonly Row<CustomerRow>[],
): Promise<ReadonlyMap<string, CustomerRecord>> {
  const customers = await tx<CustomerRecord[]>`
    select ${customerColumns(tx)} from customer
    where workspace_id = ${tx.context.workspaceId} and email_key = any(${rows.map(({ values }) => emailKey(values.email))})
    order by id for no key update`
  return new Map(customers.map((customer) => [emailKey(customer.email ?? ''), customer]))
}

/** Applies the row to the customer, or to a new one. Throws the row's refusal. */
function planRow(
  { email, firstname, ...row }: CustomerRow,
  current: CustomerRecord | undefined,
  now: Date,
): CustomerRecord {
  if (current !== undefined) return withChanges(current, { ...row, firstname }, now)
  if (firstname === undefined) throw badRequest(['firstname'], 'is required for a new customer')
  return newCustomer({ ...row, firstname, email }, now)
}
