import { z } from 'zod'
import { CUSTOMER, Customer } from './customer.ts'
import { Id } from './fields.ts'
import { exampleOf, named } from './named.ts'

/** The data of customer.created and customer.updated. Later members are optional here (product-records.ts). */
export const CustomerData = named('CustomerData', z.strictObject(CUSTOMER.shapes.data), exampleOf(Customer))

/**
 * The data of customer.erased, which is no webhook event: other services remove the personal data of the customer from
 * what they have stored (topic `orders.erasures`).
 */
export const CustomerErased = z.strictObject({ id: Id })
