import { badRequest } from '@backoffice/contracts/errors.ts'
import { CustomerRow } from '@backoffice/contracts/imports.ts'
import { rowGroups } from '@backoffice/importing/import-batches.ts'
import type { Importer, RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row, RowOutcomes } from '@backoffice/importing/row-outcomes.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import {
  type CustomerChanges,
  type CustomerRecord,
  customerColumns,
  emailKey,
  type NewCustomer,
  newCustomer,
  withChanges,
} from '../customers/customer.ts'
import { insertCustomers, updateCustomers } from '../customers/write-customers.ts'
import { type CustomerChange, undoCustomers } from './undo-customers.ts'

type Values = Readonly<Record<string, unknown>>

/** Rows that create and update customers by their member `email`, from an import or a request. */
export interface CustomerRows<RowValues extends Values> extends Pick<RowsToPlan, 'isCheck'> {
  /** No two rows have the same e-mail address. */
  readonly rows: readonly Row<RowValues>[]
  /** The bodies of POST and PUT /v1/customers that a row stands for. They throw its refusal. */
  readonly create: (values: RowValues) => NewCustomer
  readonly update: (values: RowValues) => CustomerChanges
}

/**
 * Rows of the template `customers` (OP-54, OP-131), by the rules of POST and PUT /v1/customers: updates the customer
 * with the row's e-mail address, or creates it.
 */
export const importCustomers: Importer<CustomerChange[]> = {
  async *plan(tx, batch, outcomes, now) {
    const rows = await outcomes.read(CustomerRow, 'email', batch.rows, emailKey)
    yield* planCustomers(tx, { ...batch, rows, create, update: (row: CustomerRow) => row }, outcomes, now)
  },
  write: writeCustomers,
  undo: undoCustomers,
}

function create({ firstname, ...row }: CustomerRow): NewCustomer {
  if (firstname === undefined) throw badRequest(['firstname'], 'is required for a new customer')
  return { ...row, firstname }
}

/** Plans rows and yields the changes of some at a time. The spelling of a known address stays (OP-131). */
export async function* planCustomers<RowValues extends Values>(
  tx: Transaction,
  { rows, isCheck, create, update }: CustomerRows<RowValues>,
  outcomes: RowOutcomes,
  now: Date,
): AsyncGenerator<CustomerChange[]> {
  const changed = (current: CustomerRecord, { email: _, ...changes }: CustomerChanges) =>
    withChanges(current, changes, now)
  if (!isCheck) await lockCustomers(tx, keysOf(rows))
  for (const group of rowGroups(rows, outcomes.throttle, (row) => keyOf(row) ?? '')) {
    const known = await findCustomers(tx, keysOf(group), isCheck ? tx`` : tx`for no key update`)
    yield await outcomes.attempts(group, (row): CustomerChange | undefined => {
      const current = known.get(keyOf(row) ?? '')
      const next = current === undefined ? newCustomer(create(row.values), now) : changed(current, update(row.values))
      outcomes.planned(row, { id: next.id, isNew: current === undefined, isChanged: next !== current })
      return next === current ? undefined : { current, next }
    })
  }
}

/** Writes new and changed customers, one statement each. */
export async function writeCustomers(tx: Transaction, changes: readonly CustomerChange[]): Promise<void> {
  const created = changes.filter(({ current }) => current === undefined)
  const changed = changes.filter(({ current }) => current !== undefined)
  await insertCustomers(
    tx,
    created.map(({ next }) => next),
  )
  await updateCustomers(
    tx,
    changed.map(({ next }) => next),
  )
}

const keyOf = ({ values: { email } }: Row<Values>) => (typeof email === 'string' ? emailKey(email) : undefined)
const keysOf = (rows: readonly Row<Values>[]) => rows.flatMap((row) => keyOf(row) ?? [])

/** Locks the customers with these e-mail addresses, in id order, before any of them is read. */
const lockCustomers = (tx: Transaction, keys: string[]) => tx`
  select from customer where workspace_id = ${tx.context.workspaceId} and email_key = any(${keys})
  order by id for no key update`

/**
 * Locks them once more: one may have been created since. A customer that is created later still violates the unique
 * index, and the transaction runs again.
 */
async function findCustomers(
  tx: Transaction,
  keys: string[],
  locking: SqlPart,
): Promise<ReadonlyMap<string, CustomerRecord>> {
  const customers = await tx<CustomerRecord[]>`
    select ${customerColumns(tx)} from customer
    where workspace_id = ${tx.context.workspaceId} and email_key = any(${keys})
    order by id ${locking}`
  return new Map(customers.map((customer) => [emailKey(customer.email ?? ''), customer]))
}
