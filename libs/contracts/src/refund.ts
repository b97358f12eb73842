import { z } from 'zod'
import { CurrencyCode, Description, Id, Name, Timestamp } from './fields.ts'
import { members } from './members.ts'
import { namedObject } from './named.ts'

/** An amount in minor units of the order's currency (OP-46). */
const Amount = z.int()
const Text = z.string()

/** The members of a refund (OP-201). An order has one refund of a reference, which is the provider's name of it. */
export const REFUND = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  order: { sql: 'uuid', column: 'order_id', shape: Id, shown: 'answer' },
  /** The payment that is given back. Without one the refund is of the order's payments as a whole. */
  payment: { sql: 'uuid', column: 'payment_id', shape: Id.nullable(), input: Id, unset: null, shown: 'answer' },
  amount: { sql: 'bigint', shape: Amount, input: z.int(), required: true, shown: 'answer' },
  currency: { sql: 'text', shape: Text, input: CurrencyCode, required: true, shown: 'answer' },
  reference: { sql: 'text', shape: Text, input: Name, required: true, shown: 'answer' },
  reason: { sql: 'text', shape: Text.nullable(), input: Description, unset: null, personal: true, shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** A refund of an order (OP-201). */
export const Refund = namedObject('Refund', REFUND.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000035',
  order: '0198c7a0-0000-7000-8000-000000000030',
  payment: '0198c7a0-0000-7000-8000-000000000032',
  amount: 4900,
  currency: 'EUR',
  reference: 're_8271',
  reason: 'One shirt was torn',
  created_at: '2026-03-09T08:00:00.000Z',
})
export type Refund = z.output<typeof Refund>

/** The members of a credit note (OP-203). `number` is as that of an invoice, in a series of its own. */
export const CREDIT_NOTE = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  number: { shape: Text, shown: 'answer' },
  order: { sql: 'uuid', column: 'order_id', shape: Id, shown: 'answer' },
  invoice: { sql: 'uuid', column: 'invoice_id', shape: Id, shown: 'answer' },
  refund: { sql: 'uuid', column: 'refund_id', shape: Id, shown: 'answer' },
  currency: { sql: 'text', shape: Text, shown: 'answer' },
  total: { sql: 'bigint', shape: Amount, shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** The credit note of a refund (OP-203). */
export const CreditNote = namedObject('CreditNote', CREDIT_NOTE.shapes.answer, {
  id: '0198c7a0-0000-7000-8000-000000000036',
  number: '1',
  order: '0198c7a0-0000-7000-8000-000000000030',
  invoice: '0198c7a0-0000-7000-8000-000000000033',
  refund: '0198c7a0-0000-7000-8000-000000000035',
  currency: 'EUR',
  total: 4900,
  created_at: '2026-03-09T08:00:00.000Z',
})
export type CreditNote = z.output<typeof CreditNote>
