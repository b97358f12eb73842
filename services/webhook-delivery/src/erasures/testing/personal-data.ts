import { randomUUID } from 'node:crypto'
import { Customer } from '@backoffice/contracts/customer.ts'
import { Order } from '@backoffice/contracts/order.ts'

const now = () => new Date().toISOString()

/** A customer whose personal members all contain "Ada". */
export const aCustomer = (differences: Partial<Customer> = {}): Customer =>
  Customer.parse({
    id: randomUUID(),
    firstname: 'Ada',
    lastname: 'Adaeze',
    email: 'Ada@example.com',
    phone: '+234 Ada',
    note: 'calls herself Ada',
    created_at: now(),
    updated_at: now(),
    ...differences,
  })

/** An order of a customer, or of none, whose personal members all contain "Ada". */
export const anOrder = (customer: Pick<Customer, 'id'> | null, differences: Partial<Order> = {}): Order =>
  Order.parse({
    id: randomUUID(),
    order_number: '1001',
    status: 'PLACED',
    payment_status: 'UNPAID',
    fulfillment_status: 'UNFULFILLED',
    sales_channel: null,
    currency: 'NGN',
    customer: customer && { id: customer.id, name: 'Ada Adaeze', email: 'Ada@example.com' },
    items: [
      {
        id: randomUUID(),
        title: 'Mug',
        sku: 'MUG',
        quantity: 2,
        unit_price: 500,
        negotiated_unit_price: null,
        total_price: 1000,
      },
    ],
    subtotal_price: 1000,
    total_shipping: 0,
    total_tax: 0,
    total_discount: 0,
    total_price: 1000,
    total_items: 2,
    shipping_address: { name: 'Ada', line1: 'Ada Street 1' },
    note: 'for Ada',
    order_datetime: now(),
    promise_date: null,
    ...differences,
  })
