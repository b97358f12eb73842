import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { OutboxRecord } from '@backoffice/postgres/outbox.ts'
import { type CustomerRecord, customerColumns, customerEvent, emailKey, newCustomer } from '../customers/customer.ts'
import { findOrInsertCustomer } from '../customers/write-customers.ts'
import { customerName, type OrderRecord } from './order.ts'
import type { OrderForm } from './order-form.ts'

type FormCustomer = NonNullable<OrderForm['customer']>

interface OrderCustomer {
  readonly customer: CustomerRecord | undefined
  /** customer.created, for a customer that is new with the order. */
  readonly events: readonly OutboxRecord[]
}

/**
 * The customer of an order form: by id, by e-mail address, or none. An unknown e-mail address, or no address, makes a
 * new customer, which needs a firstname (OP-40). A known customer is not changed. Throws `unprocessable`.
 */
export async function orderCustomer(tx: Transaction, form: OrderForm['customer'], now: Date): Promise<OrderCustomer> {
  if (form == null) return { customer: undefined, events: [] }
  const { id, firstname, lastname, email, phone } = form
  if (id != null || firstname == null) {
    const known = await findCustomer(tx, form, tx`for key share`)
    if (known === undefined) throw unknownCustomer(form)
    return { customer: known, events: [] }
  }
  const wanted = newCustomer({ firstname, lastname, email, phone }, now)
  const found = await findOrInsertCustomer(tx, wanted)
  // A concurrent request has created the customer with this address; another one may have erased him again since.
  if (found === undefined) return orderCustomer(tx, form, now)
  const isNew = found.id === wanted.id
  return { customer: found, events: isNew ? [customerEvent('customer.created', found)] : [] }
}

/** Refuses what `orderCustomer` would, by a plain read: he may be erased afterwards. */
export async function requireCustomer(tx: Transaction, form: OrderForm['customer']): Promise<void> {
  if (form == null || (form.id == null && form.firstname != null)) return
  if ((await findCustomer(tx, form)) === undefined) throw unknownCustomer(form)
}

const unknownCustomer = ({ id }: FormCustomer) =>
  id == null
    ? unprocessable(['customer', 'firstname'], 'is required for a new customer')
    : unprocessable(
        ['customer', 'id'],
        `this workspace has no customer ${id}; correct the id, or send an email or firstname`,
        'unknown_reference',
      )

/** A customer as an order shows it. */
export const shownCustomer = (customer: CustomerRecord | undefined): OrderRecord['customer'] =>
  customer === undefined
    ? null
    : { id: customer.id, name: customerName(customer.firstname, customer.lastname), email: customer.email }

/**
 * Finds a customer by id, else by e-mail address; no statement without both. The lock is against erasure until the
 * order is committed: the erasure waits, and then finds the order (erase-customers.ts).
 */
async function findCustomer(tx: Transaction, { id, email }: FormCustomer, lock = tx``) {
  if (id == null && email == null) return undefined
  const [customer] = await tx<CustomerRecord[]>`
    select ${customerColumns(tx)} from customer
    where workspace_id = ${tx.context.workspaceId}
      and ${id == null ? tx`email_key = ${emailKey(email ?? '')}` : tx`id = ${id}`}
    ${lock}`
  return customer
}
