import { z } from 'zod'
import { Id, Timestamp } from './fields.ts'
import { named } from './named.ts'

/** The states of an order (OP-42). */
export const ORDER_STATUSES = ['CART', 'PLACED', 'COMPLETED', 'CANCELLED'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const PAYMENT_STATUSES = ['UNPAID', 'PARTIALLY_PAID', 'PAID', 'REFUNDED'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export const FULFILLMENT_STATUSES = ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED'] as const
export type FulfillmentStatus = (typeof FULFILLMENT_STATUSES)[number]

/** An amount in minor units of the order's currency (OP-46). */
const Amount = z.int()

const OrderItem = named(
  'OrderItem',
  z.strictObject({
    id: Id,
    title: z.string(),
    sku: z.string(),
    quantity: z.int(),
    unit_price: Amount,
    negotiated_unit_price: Amount.nullable(),
    total_price: Amount,
  }),
)

const OrderCustomer = named('OrderCustomer', z.strictObject({ id: Id, name: z.string(), email: z.string().nullable() }))

/** The order body (spec: Order). */
export const Order = named(
  'Order',
  z.strictObject({
    id: Id,
    order_number: z.string(),
    status: z.enum(ORDER_STATUSES),
    payment_status: z.enum(PAYMENT_STATUSES),
    fulfillment_status: z.enum(FULFILLMENT_STATUSES),
    sales_channel: z.string().nullable(),
    currency: z.string(),
    customer: OrderCustomer.nullable(),
    items: z.array(OrderItem),
    subtotal_price: Amount,
    total_shipping: Amount,
    total_tax: Amount,
    total_discount: Amount,
    total_price: Amount,
    total_items: z.int(),
    shipping_address: z.record(z.string(), z.unknown()).nullable(),
    note: z.string().nullable(),
    order_datetime: Timestamp,
    promise_date: z.iso.date().nullable(),
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000030',
    order_number: '1001',
    status: 'PLACED',
    payment_status: 'UNPAID',
    fulfillment_status: 'UNFULFILLED',
    sales_channel: 'storefront',
    currency: 'EUR',
    customer: { id: '0198c7a0-0000-7000-8000-000000000020', name: 'Ada Lovelace', email: 'ada@example.com' },
    items: [
      {
        id: '0198c7a0-0000-7000-8000-000000000031',
        title: 'Linen shirt - M',
        sku: 'LINEN-M',
        quantity: 2,
        unit_price: 4900,
        negotiated_unit_price: null,
        total_price: 9800,
      },
    ],
    subtotal_price: 9800,
    total_shipping: 500,
    total_tax: 0,
    total_discount: 0,
    total_price: 10300,
    total_items: 2,
    shipping_address: { street: '12 Analytical Row', city: 'London' },
    note: null,
    order_datetime: '2026-03-01T12:00:00.000Z',
    promise_date: '2026-03-08',
  },
)
export type Order = z.output<typeof Order>

/** A payment of an order (OP-43). */
export const Payment = named(
  'Payment',
  z.strictObject({
    id: Id,
    order: Id,
    amount: Amount,
    currency: z.string(),
    provider: z.string().nullable(),
    reference: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: Timestamp,
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000032',
    order: '0198c7a0-0000-7000-8000-000000000030',
    amount: 10300,
    currency: 'EUR',
    provider: 'example-pay',
    reference: 'pay_8271',
    metadata: {},
    created_at: '2026-03-01T12:05:00.000Z',
  },
)
export type Payment = z.output<typeof Payment>

export const INVOICE_STATUSES = ['ISSUED', 'PAID'] as const

/**
 * The invoice of an order (OP-43). `number` is a decimal number without leading zeros, gap-free per workspace (OP-45).
 */
export const Invoice = named(
  'Invoice',
  z.strictObject({
    id: Id,
    number: z.string(),
    order: Id,
    currency: z.string(),
    total: Amount,
    status: z.enum(INVOICE_STATUSES),
    created_at: Timestamp,
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000033',
    number: '1',
    order: '0198c7a0-0000-7000-8000-000000000030',
    currency: 'EUR',
    total: 10300,
    status: 'PAID',
    created_at: '2026-03-01T12:05:00.000Z',
  },
)
export type Invoice = z.output<typeof Invoice>

/** A fulfilment of an order; `items` are items of the order (OP-43). */
export const Fulfillment = named(
  'Fulfillment',
  z.strictObject({
    id: Id,
    order: Id,
    items: z.array(named('FulfillmentItem', z.strictObject({ id: Id, quantity: z.int() }))),
    created_at: Timestamp,
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000034',
    order: '0198c7a0-0000-7000-8000-000000000030',
    items: [{ id: '0198c7a0-0000-7000-8000-000000000031', quantity: 2 }],
    created_at: '2026-03-02T09:00:00.000Z',
  },
)
export type Fulfillment = z.output<typeof Fulfillment>
