import { z } from 'zod'
import { Email, Id, Name, OPTIONAL_DESCRIPTION, OPTIONAL_NAME, Timestamp } from './fields.ts'
import { members } from './members.ts'
import { exampleOf, namedObject } from './named.ts'

/** The members of a customer (spec: Customer; OP-40). The key of import rows is the e-mail address (OP-131). */
export const CUSTOMER = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  firstname: { sql: 'text', shape: z.string(), input: Name, required: true, imported: true, shown: 'answer' },
  lastname: { ...OPTIONAL_NAME, imported: true, shown: 'answer' },
  email: { ...OPTIONAL_NAME, input: Email, imported: 'key', shown: 'answer' },
  phone: { ...OPTIONAL_NAME, imported: true, shown: 'answer' },
  note: { ...OPTIONAL_DESCRIPTION, imported: true, shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
  updated_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** The customer body (spec: Customer). */
export const Customer = namedObject('Customer', CUSTOMER.shapes.answer, {
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

/** The data of customer.created and customer.updated. Later members are optional here (product-records.ts). */
export const CustomerData = namedObject('CustomerData', CUSTOMER.shapes.data, exampleOf(Customer))

/**
 * The data of customer.erased, which is no webhook event: other services remove the personal data of the customer from
 * what they have stored (topic `orders.erasures`). More records follow the first one, with `orders`: those that are
 * erased with him now. Bodies of them that name no customer are his, too.
 */
export const CustomerErased = z.strictObject({ id: Id, orders: z.array(Id).optional() })
