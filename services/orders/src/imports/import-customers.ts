import { badRequest } from '@backoffice/contracts/errors.ts'
import { CustomerRow } from '@backoffice/contracts/imports.ts'
import type { Importer, RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type CustomerRecord, customerColumns, emailKey, newCustomer, withChanges } from '../customers/customer.ts'
import { insertCustomers, updateCustomers } from '../customers/write-customers.ts'
import { type CustomerChange, undoCustomers } from './undo-customers.ts'

/**
 * Rows of the template `customers` (OP-54, OP-131), by the rules of POST and PUT /v1/customers: updates the customer
 * with the row's e-mail address, or creates it. The spelling of a known address stays.
 */
export const importCustomers: Importer<CustomerChange[]> = {
  async *plan(tx, batch, outcomes, now) {
    const rows = outcomes.read(CustomerRow, 'email', batch.rows, emailKey)
    const before = await findCustomers(tx, rows, batch)
    yield rows.flatMap((row): CustomerChange[] => {
      const current = before.get(emailKey(row.values.email))
      const next = outcomes.attempt(row, () => planRow(row.values, current, now))
      if (next === undefined) return []
      outcomes.planned(row, { isNew: current === undefined, isChanged: next !== current })
      return next === current ? [] : [{ current, next }]
    })
  },

  async write(tx, changes) {
    await insertCustomers(
      tx,
      changes.flatMap(({ current, next }) => (current === undefined ? next : [])),
    )
    await updateCustomers(
      tx,
      changes.flatMap(({ current, next }) => (current === undefined ? [] : next)),
    )
  },

  undo: undoCustomers,
}

/**
 * The customers with the rows' e-mail addresses, locked in id order unless it is a check. A customer that is created
 * later with one of them violates the unique index, and the batch runs again.
 */
async function findCustomers(
  tx: Transaction,
  rows: readonly Row<CustomerRow>[],
  { isCheck }: RowsToPlan,
): Promise<ReadonlyMap<string, CustomerRecord>> {
  const customers = await tx<CustomerRecord[]>`
    select ${customerColumns(tx)} from customer
    where workspace_id = ${tx.context.workspaceId} and email_key = any(${rows.map(({ values }) => emailKey(values.email))})
    order by id ${isCheck ? tx`` : tx`for no key update`}`
  return new Map(customers.map((customer) => [emailKey(customer.email ?? ''), customer]))
}

/** Applies the row to the customer, or to a new one. Throws the row's refusal. */
function planRow({ email, ...row }: CustomerRow, current: CustomerRecord | undefined, now: Date): CustomerRecord {
  if (current !== undefined) return withChanges(current, row, now)
  const { firstname } = row
  if (firstname === undefined) throw badRequest(['firstname'], 'is required for a new customer')
  return newCustomer({ ...row, firstname, email }, now)
}
