import { z } from 'zod'
import { Id, Timestamp } from './fields.ts'

/** The customer body (spec: Customer). */
export const Customer = z.strictObject({
  id: Id,
  firstname: z.string(),
  lastname: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  note: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Customer = z.output<typeof Customer>
