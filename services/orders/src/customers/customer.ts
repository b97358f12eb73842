import type { Customer } from '@backoffice/contracts/customer.ts'
import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'
import { v7 as uuidv7 } from 'uuid'
import type { CustomerChanges, NewCustomer } from './customer-input.ts'

/** A customer as the database has it. */
export interface CustomerRecord {
  readonly id: string
  readonly firstname: string
  readonly lastname: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly note: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The customer body (spec: Customer). */
export const customerBody = ({ createdAt, updatedAt, ...customer }: CustomerRecord): Customer => ({
  ...customer,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
})

/** The columns of a CustomerRecord. */
export const customerColumns = (sql: AnySql) => sql`
  id, firstname, lastname, email, phone, note, created_at as "createdAt", updated_at as "updatedAt"`

/** The column `email_key` of this e-mail address, which is ASCII: addresses are compared without case (OP-40). */
export const emailKey = (email: string): string => email.toLowerCase()

/** A customer that is not written yet. */
export const newCustomer = (input: NewCustomer, now: Date): CustomerRecord => ({
  id: uuidv7(),
  firstname: input.firstname,
  lastname: input.lastname ?? null,
  email: input.email ?? null,
  phone: input.phone ?? null,
  note: input.note ?? null,
  createdAt: now,
  updatedAt: now,
})

/** The customer with these changes; the same object when nothing changes (OP-73). `updatedAt` never goes back. */
export function withChanges(customer: CustomerRecord, changes: CustomerChanges, now: Date): CustomerRecord {
  const { firstname, lastname, email, phone, note } = customer
  const current: Required<CustomerChanges> = { firstname, lastname, email, phone, note }
  const isChanged = Object.entries(current).some(([member, value]) => {
    const next = changes[member as keyof CustomerChanges]
    return next !== undefined && next !== value
  })
  if (!isChanged) return customer
  return {
    ...customer,
    firstname: changes.firstname ?? firstname,
    lastname: changes.lastname === undefined ? lastname : changes.lastname,
    email: changes.email === undefined ? email : changes.email,
    phone: changes.phone === undefined ? phone : changes.phone,
    note: changes.note === undefined ? note : changes.note,
    updatedAt: new Date(Math.max(customer.updatedAt.getTime(), now.getTime())),
  }
}

/** An event about a customer, with its body as it is now (OP-67). */
export const customerEvent = (type: 'customer.created' | 'customer.updated', customer: CustomerRecord): OutboxRecord =>
  outboxRecord(TOPICS.ordersEvents, type, customer.id, customerBody(customer))

export const noSuchCustomer = (id: string) => notFound(['id'], `this workspace has no customer ${id}`)

export const emailTaken = (email: string | null) =>
  conflict(['email'], `"${email}" belongs to another customer of this workspace`)
