import { isDeepStrictEqual } from 'node:util'
import { CUSTOMER } from '@backoffice/contracts/customer.ts'
import type { ImportedChange, ImportUndo, UndoOutcome } from '@backoffice/importing/importer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { laterThan } from '@backoffice/postgres/outbox.ts'
import { type CustomerRecord, customerColumns } from '../customers/customer.ts'
import { updateCustomers } from '../customers/write-customers.ts'

/** A customer before and after an import; `current` is undefined for a new one. */
export interface CustomerChange {
  readonly current: CustomerRecord | undefined
  readonly next: CustomerRecord
}

/** Undoes imported customers (OP-151). */
export const undoCustomers: ImportUndo<CustomerChange[]> = {
  order: 'CREATED_FIRST',
  kept: (changes) => changes.map(keptCustomer),

  async undo(tx, changes, now) {
    const ids = changes.map(({ id }) => id)
    const known = await lockCustomers(tx, ids)
    const withOrders = await findCustomersWithOrders(tx, ids)
    const outcomes = changes.map(({ id, former, version }): UndoOutcome => {
      const customer = known.get(id)
      if (customer === undefined) return { outcome: 'kept', reason: 'was deleted since the import' }
      if (versionOf(customer) !== version) return { outcome: 'kept', reason: 'was changed since the import' }
      if (former !== null) return { outcome: 'restored' }
      return withOrders.has(id) ? { outcome: 'kept', reason: 'has or had orders' } : { outcome: 'deleted' }
    })
    const wanted = (outcome: UndoOutcome['outcome']) =>
      changes.filter((_, index) => outcomes[index]?.outcome === outcome)
    await deleteCustomers(
      tx,
      wanted('deleted').map(({ id }) => id),
    )
    const restored = wanted('restored').flatMap(({ id, former }) => {
      const customer = known.get(id)
      return customer === undefined ? [] : { ...customer, ...former, updatedAt: laterThan(customer.updatedAt, now) }
    })
    await updateCustomers(tx, restored)
    return outcomes
  },
}

function keptCustomer({ current, next }: CustomerChange): ImportedChange {
  const { id, email } = next
  const [key, version_after] = [email ?? '', versionOf(next)]
  if (current === undefined) return { id, key, former: null, version_before: null, version_after }
  const changed = CUSTOMER.names.filter((name) => name !== 'updatedAt' && !isDeepStrictEqual(current[name], next[name]))
  const former = Object.fromEntries(changed.map((member) => [member, current[member]]))
  return { id, key, former, version_before: versionOf(current), version_after }
}

/** What clients can change of a customer. */
function versionOf(customer: CustomerRecord): string {
  const { id, createdAt, updatedAt, ...members } = CUSTOMER.row(customer)
  return JSON.stringify(Object.values(members))
}

/** Waits for orders that are being created with the customers: they hold locks on the rows. */
async function lockCustomers(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, CustomerRecord>> {
  const customers = await tx<CustomerRecord[]>`
    select ${customerColumns(tx)} from customer
    where workspace_id = ${tx.context.workspaceId} and id = any(${ids as string[]}::uuid[])
    order by id for update`
  return new Map(customers.map((customer) => [customer.id, customer]))
}

/** Those who have orders or had some: these still hold the form as submitted (OP-208). */
async function findCustomersWithOrders(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const workspace = tx.context.workspaceId
  const found = await tx<{ id: string }[]>`
    select wanted.id from unnest(${ids as string[]}::uuid[]) as wanted (id)
    where exists (select from sales_order where workspace_id = ${workspace} and customer_id = wanted.id)
      or exists (select from former_customer where workspace_id = ${workspace} and customer_id = wanted.id)`
  return new Set(found.map(({ id }) => id))
}

/** Nothing else has their data, unless they have orders: no event fired for them (OP-72). */
async function deleteCustomers(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx`delete from customer where workspace_id = ${tx.context.workspaceId} and id = any(${ids as string[]}::uuid[])`
}
