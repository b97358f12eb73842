import { Email, Id, Name, Sku, TimestampInput } from '@backoffice/contracts/fields.ts'
import { FULFILLMENT_STATUSES, ORDER_STATUSES, PAYMENT_STATUSES } from '@backoffice/contracts/order.ts'
import { Words } from '@backoffice/contracts/pagination.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { sinceChange } from '@backoffice/postgres/lists/conditions.ts'
import { type Bounds, boundsOf } from '@backoffice/postgres/lists/hour-page.ts'
import { z } from 'zod'
import { emailKey } from '../customers/customer.ts'

/**
 * The filters of a list of orders; an order meets all that are sent (OP-140, OP-219). It was created at or after
 * `since`, and before `until`.
 */
export const OrderFilters = z.strictObject({
  status: z.enum(ORDER_STATUSES).optional(),
  payment_status: z.enum(PAYMENT_STATUSES).optional(),
  fulfillment_status: z.enum(FULFILLMENT_STATUSES).optional(),
  customer: Id.optional(),
  email: Email.optional(),
  sales_channel: Name.optional(),
  /** Order numbers have no lower case (see newOrderNumber). */
  order_number: Name.toUpperCase().optional(),
  sku: Sku.optional(),
  query: Words.optional(),
  since: TimestampInput.optional(),
  until: TimestampInput.optional(),
  updated_since: TimestampInput.optional(),
})
export type OrderFilters = z.output<typeof OrderFilters>

/** The times of an order that lists are sorted by. The time of creation is in the id. */
export const CLOCKS = { id: 'CREATED', updated_at: 'UPDATED' } as const
export type Time = keyof typeof CLOCKS

/** The bounds that the filters set on a time. */
export const boundsOn = (tx: Transaction, time: Time, { updated_since, ...created }: OrderFilters): Bounds =>
  time === 'id'
    ? boundsOf(tx, created)
    : { since: updated_since === undefined ? undefined : sinceChange(tx, updated_since) }

/**
 * The conditions on the states of orders, for a row of `sales_order` or of `order_tally`. `is true` keeps PostgreSQL
 * from skipping through the index of counts for each time: it expects that to cost more than reading the counts of all
 * workspaces.
 */
export const hasStates = (tx: Transaction, { status, payment_status, fulfillment_status }: OrderFilters) => tx`
  ${status === undefined ? tx`true` : tx`(status = ${status}) is true`}
  ${payment_status === undefined ? tx`` : tx`and (payment_status = ${payment_status}) is true`}
  ${fulfillment_status === undefined ? tx`` : tx`and (fulfillment_status = ${fulfillment_status}) is true`}`

/**
 * The conditions of all filters but those on times and those that search, for a row of `sales_order`. A statement is
 * made of their parts, so that each combination of filters has a text, and with it a plan, of its own.
 */
export const matches = (tx: Transaction, filters: OrderFilters) => tx`
  workspace_id = ${tx.context.workspaceId} and ${hasStates(tx, filters)}
  ${filters.customer === undefined ? tx`` : tx`and customer_id = ${filters.customer}`}
  ${filters.email === undefined ? tx`` : tx`and customer_id = ${customerOf(tx, filters.email)}`}
  ${filters.sales_channel === undefined ? tx`` : tx`and sales_channel = ${filters.sales_channel}`}
  ${filters.order_number === undefined ? tx`` : tx`and order_number = ${filters.order_number}`}`

/** The customer with an e-mail address. */
const customerOf = (tx: Transaction, email: string) => tx`(
  select id from customer where workspace_id = ${tx.context.workspaceId} and email_key = ${emailKey(email)}
)`
