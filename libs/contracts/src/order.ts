import { z } from 'zod'
import {
  CurrencyCode,
  Description,
  Id,
  KnownCurrency,
  Name,
  NonNegativeInteger,
  Timestamp,
  TimestampInput,
} from './fields.ts'
import { members } from './members.ts'
import { namedObject } from './named.ts'

/** The states of an order (OP-42). */
export const ORDER_STATUSES = ['CART', 'PLACED', 'COMPLETED', 'CANCELLED'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const PAYMENT_STATUSES = ['UNPAID', 'PARTIALLY_PAID', 'PAID', 'REFUNDED'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export const FULFILLMENT_STATUSES = ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED'] as const
export type FulfillmentStatus = (typeof FULFILLMENT_STATUSES)[number]

/** An amount in minor units of the order's currency (OP-46). */
const Amount = z.int()
const Text = z.string()
const Json = z.record(z.string(), z.unknown())
const Status = z.enum(ORDER_STATUSES)

/** A line of an order, with what catalog had when it was ordered. Amounts are in minor units. */
export const ORDER_ITEM = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  variant: { sql: 'uuid', column: 'variant_id', shape: Id, shown: 'nobody' },
  title: { sql: 'text', shape: Text, shown: 'answer' },
  sku: { sql: 'text', shape: Text, shown: 'answer' },
  quantity: { sql: 'bigint', shape: z.int(), input: z.int().min(1), required: true, shown: 'answer' },
  unit_price: { sql: 'bigint', shape: Amount, shown: 'answer' },
  /** Replaces the unit price. */
  negotiated_unit_price: {
    sql: 'bigint',
    shape: Amount.nullable(),
    input: NonNegativeInteger,
    unset: null,
    shown: 'answer',
  },
  total_price: { sql: 'bigint', shape: Amount, shown: 'answer' },
  /** The quantity in fulfilments. */
  fulfilled: { sql: 'bigint', shape: z.int(), initial: 0, shown: 'nobody' },
})

/** A line of an order. */
export const OrderItem = namedObject('OrderItem', ORDER_ITEM.shapes.answer)

const OrderCustomer = namedObject('OrderCustomer', { id: Id, name: z.string(), email: z.string().nullable() })

/** A day; the years are those of TimestampInput. */
const Day = z.iso
  .date('must be a day, such as 2026-03-01')
  .refine((day) => day >= '1000-01-01', 'must lie in the years 1000 to 9999')

const ADDRESS_LEVELS = 10

/** Its members are the workspace's own; they go into events, so they cannot nest as deep as a request. */
const ShippingAddress = Json.refine(
  (address) => !nestsDeeper(address, ADDRESS_LEVELS),
  `must not nest deeper than ${ADDRESS_LEVELS} levels`,
)

const nestsDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => nestsDeeper(member, levels - 1)))

const Extra = {
  sql: 'bigint',
  shape: Amount,
  input: NonNegativeInteger,
  unset: 0,
  fixed: true,
  shown: 'answer',
} as const

/** The members of an order (spec: Order; OP-41). Its form has more: the lines and the customer. */
export const ORDER = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  order_number: { sql: 'text', shape: Text, shown: 'answer' },
  status: {
    sql: 'text',
    shape: Status,
    input: Status,
    create: z.enum(['CART', 'PLACED']).nullish(),
    initial: 'CART',
    shown: 'answer',
  },
  payment_status: { sql: 'text', shape: z.enum(PAYMENT_STATUSES), initial: 'UNPAID', shown: 'answer' },
  fulfillment_status: { sql: 'text', shape: z.enum(FULFILLMENT_STATUSES), initial: 'UNFULFILLED', shown: 'answer' },
  sales_channel: { sql: 'text', shape: Text.nullable(), input: Name, unset: null, fixed: true, shown: 'answer' },
  currency: { sql: 'text', shape: Text, input: KnownCurrency, required: true, fixed: true, shown: 'answer' },
  customer: { shape: OrderCustomer.nullable(), shown: 'answer' },
  items: { shape: z.array(OrderItem), shown: 'answer' },
  subtotal_price: { sql: 'bigint', shape: Amount, shown: 'answer' },
  total_shipping: Extra,
  total_tax: Extra,
  total_discount: Extra,
  total_price: { sql: 'bigint', shape: Amount, shown: 'answer' },
  total_items: { sql: 'bigint', shape: z.int(), shown: 'answer' },
  /** The sum of its payments. */
  paid: { sql: 'bigint', shape: Amount, initial: 0, shown: 'nobody' },
  /** The sum of its refunds. */
  refunded: { sql: 'bigint', shape: Amount, initial: 0, shown: 'nobody' },
  shipping_address: {
    sql: 'json',
    shape: Json.nullable(),
    input: ShippingAddress,
    unset: null,
    personal: true,
    shown: 'answer',
  },
  note: { sql: 'text', shape: Text.nullable(), input: Description, unset: null, personal: true, shown: 'answer' },
  order_datetime: {
    sql: 'timestamptz',
    shape: Timestamp,
    input: TimestampInput,
    create: TimestampInput.nullish(),
    fixed: true,
    shown: 'answer',
  },
  promise_date: { sql: 'date', shape: z.iso.date().nullable(), input: Day, unset: null, shown: 'answer' },
  /** When its prices were last taken from catalog; null for when it was created. */
  priced_at: { sql: 'timestamptz', shape: Timestamp.nullable(), initial: null, shown: 'nobody' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'nobody' },
  updated_at: { sql: 'timestamptz', shape: Timestamp, shown: 'nobody' },
})

/** For how long the prices of an order at CART hold, in seconds, unless its workspace has a setting (OP-214). */
export const CART_PRICE_SECONDS = 86_400

/** The order body (spec: Order). */
export const Order = namedObject('Order', ORDER.shapes.answer, {
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
})
export type Order = z.output<typeof Order>

const METADATA_LENGTH = 16 * 1024

const Metadata = Json.refine((metadata) => [...JSON.stringify(metadata)].length <= METADATA_LENGTH, {
  error: `must be at most ${METADATA_LENGTH} characters of JSON`,
})

/** The members of a payment (OP-43). An order has one payment of a provider and reference (OP-142). */
export const PAYMENT = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  order: { sql: 'uuid', column: 'order_id', shape: Id, shown: 'answer' },
  amount: { sql: 'bigint', shape: Amount, input: z.int(), required: true, shown: 'answer' },
  currency: { sql: 'text', shape: Text, input: CurrencyCode, required: true, shown: 'answer' },
  provider: { sql: 'text', shape: Text.nullable(), input: Name, unset: null, shown: 'answer' },
  reference: {
    sql: 'text',
    read: 'coalesce(sent_reference, reference)',
    shape: Text,
    input: Name,
    required: true,
    shown: 'answer',
  },
  metadata: { sql: 'json', shape: Json, input: Metadata, unset: {}, shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** A payment of an order (OP-43). */
export const Payment = namedObject('Payment', PAYMENT.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000032',
  order: '0198c7a0-0000-7000-8000-000000000030',
  amount: 10300,
  currency: 'EUR',
  provider: 'example-pay',
  reference: 'pay_8271',
  metadata: {},
  created_at: '2026-03-01T12:05:00.000Z',
})
export type Payment = z.output<typeof Payment>

/** The members of an invoice (OP-43). `number` is decimal without leading zeros, gap-free per workspace (OP-45). */
export const INVOICE = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  number: { shape: Text, shown: 'answer' },
  order: { sql: 'uuid', column: 'order_id', shape: Id, shown: 'answer' },
  currency: { sql: 'text', shape: Text, shown: 'answer' },
  total: { sql: 'bigint', shape: Amount, shown: 'answer' },
  status: { sql: 'text', shape: z.enum(['ISSUED', 'PAID']), shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** The invoice of an order (OP-43). */
export const Invoice = namedObject('Invoice', INVOICE.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000033',
  number: '1',
  order: '0198c7a0-0000-7000-8000-000000000030',
  currency: 'EUR',
  total: 10300,
  status: 'PAID',
  created_at: '2026-03-01T12:05:00.000Z',
})
export type Invoice = z.output<typeof Invoice>

/** The buyer that the invoice of an order names, as it was when the invoice was issued (OP-217). */
export const Buyer = namedObject(
  'Buyer',
  {
    order: Id,
    invoice: Id,
    name: z.string().nullable(),
    email: z.string().nullable(),
    /** The order's shipping address. */
    address: Json.nullable(),
  },
  {
    order: '0198c7a0-0000-7000-8000-000000000030',
    invoice: '0198c7a0-0000-7000-8000-000000000033',
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    address: { street: '12 Analytical Row', city: 'London' },
  },
)
export type Buyer = z.output<typeof Buyer>

const FulfillmentItem = namedObject('FulfillmentItem', { id: Id, quantity: z.int() })

/** The members of a fulfilment (OP-43); `items` are items of the order, in its order, each once. */
export const FULFILLMENT = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  order: { sql: 'uuid', column: 'order_id', shape: Id, shown: 'answer' },
  items: { sql: 'json', shape: z.array(FulfillmentItem), shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** The members of a cancellation of open quantities (OP-209). `amount` is by how much the order's total fell. */
export const CANCELLATION = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  order: { sql: 'uuid', column: 'order_id', shape: Id, shown: 'answer' },
  items: { sql: 'json', shape: z.array(FulfillmentItem), shown: 'answer' },
  amount: { sql: 'bigint', shape: Amount, shown: 'nobody' },
  reference: { sql: 'text', shape: Text.nullable(), input: Name, unset: null, shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** A cancellation of open quantities of an order (OP-209). */
export const Cancellation = namedObject('Cancellation', CANCELLATION.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000035',
  order: '0198c7a0-0000-7000-8000-000000000030',
  items: [{ id: '0198c7a0-0000-7000-8000-000000000031', quantity: 1 }],
  reference: 'out of stock',
  created_at: '2026-03-02T10:00:00.000Z',
})
export type Cancellation = z.output<typeof Cancellation>

const ReturnedItem = namedObject('ReturnedItem', { id: Id, quantity: z.int(), restock: z.boolean() })

/** The members of a return of goods (OP-210). `amount` is by how much the order's total fell. */
export const RETURN = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  order: { sql: 'uuid', column: 'order_id', shape: Id, shown: 'answer' },
  items: { sql: 'json', shape: z.array(ReturnedItem), shown: 'answer' },
  amount: { sql: 'bigint', shape: Amount, shown: 'nobody' },
  reference: { sql: 'text', shape: Text, input: Name, required: true, shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** A return of goods of an order (OP-210). */
export const Return = namedObject('Return', RETURN.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000036',
  order: '0198c7a0-0000-7000-8000-000000000030',
  items: [{ id: '0198c7a0-0000-7000-8000-000000000031', quantity: 1, restock: true }],
  reference: 'rma_19',
  created_at: '2026-03-09T10:00:00.000Z',
})
export type Return = z.output<typeof Return>

/** A fulfilment of an order (OP-43). */
export const Fulfillment = namedObject('Fulfillment', FULFILLMENT.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000034',
  order: '0198c7a0-0000-7000-8000-000000000030',
  items: [{ id: '0198c7a0-0000-7000-8000-000000000031', quantity: 2 }],
  created_at: '2026-03-02T09:00:00.000Z',
})
export type Fulfillment = z.output<typeof Fulfillment>
