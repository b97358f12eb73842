import { Id, Name, Sku } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { inOrder } from '@backoffice/contracts/members.ts'
import { named } from '@backoffice/contracts/named.ts'
import { ORDER, ORDER_ITEM } from '@backoffice/contracts/order.ts'
import { z } from 'zod'
import { NewCustomer } from '../customers/customer.ts'

/** A line of the form. */
const Line = named(
  'OrderLineInput',
  z
    .looseObject({
      variant: Id.nullish(),
      sku: Sku.nullish(),
      ...ORDER_ITEM.shapes.create,
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

/** Refusals name these members in this order, and then those that came later. */
const FIRST = [
  'currency',
  'items',
  'customer',
  'shipping_address',
  'total_shipping',
  'total_tax',
  'total_discount',
  'sales_channel',
  'note',
  'order_datetime',
  'promise_date',
] as const

/**
 * The workspace order form in its default shape (OP-41). Members that it does not have are kept with the form. A
 * workspace's own JSON Schema is checked apart from it.
 */
export const OrderForm = named(
  'OrderInput',
  z.looseObject(
    inOrder(FIRST, {
      ...ORDER.shapes.create,
      items: z.array(Line).min(1).max(LIMITS.idsPerCall),
      customer: FormCustomer.nullish(),
    }),
  ),
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
