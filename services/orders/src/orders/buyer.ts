import type { Buyer } from '@backoffice/contracts/order.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import type { OrderRecord } from './order.ts'

/** The buyer of an order, as an invoice keeps it (OP-217). */
export const buyerOf = ({ customer, shippingAddress }: OrderRecord): Omit<Buyer, 'order' | 'invoice'> => ({
  name: customer?.name ?? null,
  email: customer?.email ?? null,
  address: shippingAddress,
})

/** The same as SQL, of `sales_order` and its `customer`, which may be missing. */
export const presentBuyer = (sql: AnySql) => sql`
  json_build_object(
    'name', case when customer.id is not null then concat_ws(' ', customer.firstname, customer.lastname) end,
    'email', customer.email,
    'address', sales_order.shipping_address
  )`

/**
 * Gives the invoices of a customer that is about to be erased their buyer. Only those have none that a replica of the
 * version before has issued. The caller has locked the customer.
 */
export const keepBuyers = (tx: Transaction, customer: string) => tx`
  update invoice set buyer = ${presentBuyer(tx)}
  from sales_order
  join customer on customer.workspace_id = sales_order.workspace_id and customer.id = sales_order.customer_id
  where sales_order.workspace_id = ${tx.context.workspaceId} and sales_order.customer_id = ${customer}
    and invoice.workspace_id = ${tx.context.workspaceId} and invoice.order_id = sales_order.id
    and invoice.buyer is null`
