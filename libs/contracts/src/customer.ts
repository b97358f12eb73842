import { z } from 'zod'
import { Description, Email, Id, Name, Timestamp } from './fields.ts'
import { members } from './members.ts'
import { named } from './named.ts'

const Text = z.string().nullable()

/** The members of a customer (spec: Customer; OP-40). The key of import rows is the e-mail address (OP-131). */
export const CUSTOMER = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  firstname: { sql: 'text', shape: z.string(), input: Name, required: true, imported: true, shown: 'answer' },
  lastname: { sql: 'text', shape: Text, input: Name, unset: null, imported: true, shown: 'answer' },
  email: { sql: 'text', shape: Text, input: Email, unset: null, imported: 'key', shown: 'answer' },
  phone: { sql: 'text', shape: Text, input: Name, unset: null, imported: true, shown: 'answer' },
  note: { sql: 'text', shape: Text, input: Description, unset: null, imported: true, shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
  updated_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** The customer body (spec: Customer). */
export const Customer = named('Customer', z.strictObject(CUSTOMER.shapes.answer), {
  id: '0198c7a0-0000-7000-8000-000000000020',
  firstname: 'Ada',
  lastname: 'Lovelace',
  email: 'ada@example.com',
  phone: null,
  note: null,
  created_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
})
export type Customer = z.output<typeof Customer>
