import type { Payment } from '@backoffice/contracts/order.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'

/** A payment as the database has it. */
export interface PaymentRecord {
  readonly id: string
  readonly order: string
  /** In minor units of the currency. */
  readonly amount: number
  readonly currency: string
  readonly provider: string | null
  /** The provider's name of the payment. An order has one payment of a reference. */
  readonly reference: string
  readonly metadata: Record<string, unknown>
  readonly createdAt: Date
}

/** The payment body (OP-43). */
export const paymentBody = ({ createdAt, ...payment }: PaymentRecord): Payment => ({
  ...payment,
  created_at: createdAt.toISOString(),
})

/** The columns of a PaymentRecord. */
export const paymentColumns = (sql: AnySql) => sql`
  id, order_id as order, amount, currency, provider, reference, metadata, created_at as "createdAt"`
