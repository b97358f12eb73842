import { z } from 'zod'
import { Id, Timestamp } from './fields.ts'
import { named } from './named.ts'

/** The customer body (spec: Customer). */
export const Customer = named(
  'Customer',
  z.strictObject({
    id: Id,
    firstname: z.string(),
    lastname: z.string().nullable(),
    email: z.string().nullable(),
    phone: z.string().nullable(),
    note: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000020',
    firstname: 'Ada',
    lastname: 'Lovelace',
    email: 'ada@example.com',
    phone: null,
    note: null,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
  },
)
export type Customer = z.output<typeof Customer>
