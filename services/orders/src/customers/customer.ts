import type { Customer } from '@backoffice/contracts/customer.ts'
import { notFound } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'
import { v7 as uuidv7 } from 'uuid'
import type { NewCustomer } from './customer-input.ts'

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

export const customerCreated = (customer: CustomerRecord): OutboxRecord =>
  outboxRecord(TOPICS.ordersEvents, 'customer.created', customer.id, customerBody(customer))

/** Inserts a customer; returns false when another one has its e-mail address. */
export async function insertCustomer(tx: Transaction, customer: CustomerRecord): Promise<boolean> {
  const { id, firstname, lastname, email, phone, note, createdAt } = customer
  const inserted = await tx`
    insert into customer (workspace_id, id, firstname, lastname, email, phone, note, created_at, updated_at)
    values (
      ${tx.context.workspaceId}, ${id}, ${firstname}, ${lastname}, ${email}, ${phone}, ${note}, ${createdAt}, ${createdAt}
    )
    on conflict (workspace_id, lower(email)) do nothing
    returning id`
  return inserted.length > 0
}

export const noSuchCustomer = (id: string) => notFound(['id'], `this workspace has no customer ${id}`)
