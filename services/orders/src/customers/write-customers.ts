import { CUSTOMER } from '@backoffice/contracts/customer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type CustomerRecord, customerColumns, emailKey, readCustomer } from './customer.ts'

/** Inserts a customer; false when another has its e-mail address. Waits for concurrent inserts of the address. */
export async function insertCustomer(tx: Transaction, customer: CustomerRecord): Promise<boolean> {
  const inserted = await tx`
    ${insertion(tx, [customer])} on conflict (workspace_id, email_key) do nothing
    returning id`
  return inserted.length > 0
}

/**
 * Finds the customer with the e-mail address and locks it against erasure until the transaction ends, or inserts this
 * one. Undefined after a concurrent insert of the address.
 */
export async function findOrInsertCustomer(
  tx: Transaction,
  customer: CustomerRecord,
): Promise<CustomerRecord | undefined> {
  const { email } = customer
  const [found] = await tx<CustomerRecord[]>`
    with known as materialized (
      select * from customer
      where workspace_id = ${tx.context.workspaceId} and email_key = ${email && emailKey(email)}
      for key share
    ), inserted as (
      ${insertion(tx, [customer], tx`not exists (select from known)`)} on conflict (workspace_id, email_key) do nothing
      returning *
    )
    select ${customerColumns(tx)} from known union all select ${customerColumns(tx)} from inserted`
  return found
}

/** Inserts customers in one statement. The e-mail address of another customer violates the unique index. */
export async function insertCustomers(tx: Transaction, customers: readonly CustomerRecord[]): Promise<void> {
  if (customers.length > 0) await insertion(tx, customers)
}

/** In the order of the e-mail addresses, so that imports of the same ones do not deadlock. */
const insertion = (tx: Transaction, customers: readonly CustomerRecord[], condition = tx`true`) => tx`
  insert into customer (workspace_id, ${tx.unsafe(CUSTOMER.sql.columns)})
  select ${tx.context.workspaceId}, ${tx.unsafe(CUSTOMER.sql.members)}
  from ${asRows(tx, customers)}
  where ${condition}
  order by lower(email collate "C")`

const CHANGED = CUSTOMER.sql.assignments(CUSTOMER.names.filter((name) => name !== 'id' && name !== 'createdAt'))

/** Writes changed customers in one statement. The caller has locked them. A taken address violates the index. */
export async function updateCustomers(tx: Transaction, customers: readonly CustomerRecord[]): Promise<void> {
  if (customers.length === 0) return
  await tx`
    update customer set ${tx.unsafe(CHANGED)}
    from ${asRows(tx, customers)}
    where customer.workspace_id = ${tx.context.workspaceId} and customer.id = any(${customers.map(({ id }) => id)}::uuid[])
      and customer.id = row.id`
}

const asRows = (tx: Transaction, customers: readonly CustomerRecord[]) => tx`
  json_to_recordset(${JSON.stringify(customers)}::text::json) as row (${tx.unsafe(CUSTOMER.sql.row)})`

/** Locks a customer until the transaction ends, and reads it. Throws `not_found`. */
export const lockCustomer = (tx: Transaction, id: string) => readCustomer(tx, id, tx`for no key update`)
