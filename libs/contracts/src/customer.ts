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
)
export type Customer = z.output<typeof Customer>
