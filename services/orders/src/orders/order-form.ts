import {
  CurrencyCode,
  Description,
  Id,
  Name,
  NonNegativeInteger,
  Sku,
  TimestampInput,
} from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { named } from '@backoffice/contracts/named.ts'
import { z } from 'zod'
import { NewCustomer } from '../customers/customer-input.ts'

/** A day; the years are those of TimestampInput. */
const Day = z.iso
  .date('must be a day, such as 2026-03-01')
  .refine((day) => day >= '1000-01-01', 'must lie in the years 1000 to 9999')

const ADDRESS_LEVELS = 10

/** Its members are the workspace's own; they go into events, so they cannot nest as deep as a request. */
const ShippingAddress = z
  .record(z.string(), z.unknown())
  .refine((address) => !nestsDeeper(address, ADDRESS_LEVELS), `must not nest deeper than ${ADDRESS_LEVELS} levels`)

const nestsDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => nestsDeeper(member, levels - 1)))

/** A line of the form. */
const Line = named(
  'OrderLineInput',
  z
    .looseObject({
      variant: Id.nullish(),
      sku: Sku.nullish(),
      quantity: z.int().min(1),
      negotiated_unit_price: NonNegativeInteger.nullish(),
    })
    .refine(({ variant, sku }) => (variant == null) !== (sku == null), 'must have either variant or sku'),
)

/** The customer by id, or by its members: an unknown e-mail makes a new customer (OP-40). */
const FormCustomer = named(
  'OrderCustomerInput',
  z
    .looseObject({
      id: Id.nullish(),
      ...NewCustomer.pick({ lastname: true, email: true, phone: true }).shape,
      firstname: Name.nullish(),
    })
    .refine(
      ({ id, firstname, email }) => id != null || firstname != null || email != null,
      'must have id, email or firstname',
    ),
)

/**
 * The workspace order form in its default shape (OP-41). Members that it does not have are kept with the form. A workspace's own JSON
 * Schema is checked apart from it.
 */
export const OrderForm = named(
  'OrderInput',
  z.looseObject({
    currency: CurrencyCode,
    items: z.array(Line).min(1).max(LIMITS.idsPerCall),
    customer: FormCustomer.nullish(),
    shipping_address: ShippingAddress.nullish(),
    total_shipping: NonNegativeInteger.nullish(),
    total_tax: NonNegativeInteger.nullish(),
    total_discount: NonNegativeInteger.nullish(),
    sales_channel: Name.nullish(),
    note: Description.nullish(),
    order_datetime: TimestampInput.nullish(),
    promise_date: Day.nullish(),
    status: z.enum(['CART', 'PLACED']).nullish(),
  }),
  {
    currency: 'EUR',
    items: [{ sku: 'LINEN-M', quantity: 2 }],
    customer: { firstname: 'Ada', lastname: 'Lovelace', email: 'ada@example.com' },
    shipping_address: { street: '12 Analytical Row', city: 'London' },
    total_shipping: 500,
    sales_channel: 'storefront',
    promise_date: '2026-03-08',
    status: 'PLACED',
  },
)
export type OrderForm = z.output<typeof OrderForm>
