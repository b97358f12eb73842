import { Description, Email, Name } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { z } from 'zod'

/** The members of a new customer (spec: Customer; OP-40). */
export const NewCustomer = named(
  'CustomerInput',
  z.strictObject({
    firstname: Name,
    lastname: Name.nullish(),
    email: Email.nullish(),
    phone: Name.nullish(),
    note: Description.nullish(),
  }),
  { firstname: 'Ada', lastname: 'Lovelace', email: 'ada@example.com' },
)
export type NewCustomer = z.output<typeof NewCustomer>

/** The members of a customer that change; `null` unsets one, but for the firstname (OP-40). */
export const CustomerChanges = named(
  'CustomerUpdate',
  z.strictObject({ ...NewCustomer.shape, firstname: Name.optional() }),
  { phone: '+44 20 7946 0000', note: null },
)
export type CustomerChanges = z.output<typeof CustomerChanges>
