import { isDeepStrictEqual } from 'node:util'
import { CUSTOMER, type Customer } from '@backoffice/contracts/customer.ts'
import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { laterThan, type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { z } from 'zod'

/** The members of a new customer. */
export const NewCustomer = namedObject('CustomerInput', CUSTOMER.shapes.create, {
  firstname: 'Ada',
  lastname: 'Lovelace',
  email: 'ada@example.com',
})
export type NewCustomer = z.output<typeof NewCustomer>

/** The members of a customer that change; `null` unsets one, but for the firstname (OP-40). */
export const CustomerChanges = namedObject('CustomerUpdate', CUSTOMER.shapes.update, {
  phone: '+44 20 7946 0000',
  note: null,
})
export type CustomerChanges = z.output<typeof CustomerChanges>

/** A customer as the database has it. */
export type CustomerRecord = RecordOf<typeof CUSTOMER>

/** The customer body (spec: Customer). */
export const customerBody = (customer: CustomerRecord): Customer => CUSTOMER.answerOf(customer)

/** The columns of a CustomerRecord. */
export const customerColumns = (sql: AnySql) => sql.unsafe(CUSTOMER.sql.selected)

/** Reads a customer. Throws `not_found`. */
export async function readCustomer(tx: Transaction, id: string, locking = tx``): Promise<CustomerRecord> {
  const [customer] = await tx<CustomerRecord[]>`
    select ${customerColumns(tx)} from customer where workspace_id = ${tx.context.workspaceId} and id = ${id} ${locking}`
  if (customer === undefined) throw noSuchCustomer(id)
  return customer
}

/** The column `email_key` of this e-mail address, which is ASCII: addresses are compared without case (OP-40). */
export const emailKey = (email: string): string => email.toLowerCase()

/** A customer that is not written yet. */
export function newCustomer(input: NewCustomer, now: Date): CustomerRecord {
  const { firstname } = input
  return CUSTOMER.changed({ ...CUSTOMER.initial, id: newId(), firstname, createdAt: now, updatedAt: now }, input)
}

/** The customer with these changes; the same object when nothing changes (OP-73). `updatedAt` always goes on. */
export function withChanges(customer: CustomerRecord, changes: CustomerChanges, now: Date): CustomerRecord {
  const changed = CUSTOMER.changed(customer, changes)
  if (isDeepStrictEqual(changed, customer)) return customer
  return { ...changed, updatedAt: laterThan(customer.updatedAt, now) }
}

/** An event about a customer, with its body as it is now (OP-67), at the time of its last change. */
export const customerEvent = (type: 'customer.created' | 'customer.updated', customer: CustomerRecord): OutboxRecord =>
  outboxRecord(TOPICS.ordersEvents, type, customer.id, customerBody(customer), customer.updatedAt)

export const noSuchCustomer = (id: string) => notFound(['id'], `this workspace has no customer ${id}`)

/** Does not repeat the address: logs keep messages also once the customer is erased (OP-130). */
export const emailTaken = () =>
  conflict(
    ['email'],
    'belongs to another customer of this workspace; change that one, or send another address',
    'email_taken',
  )
