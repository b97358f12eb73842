import { createCustomer } from './create-customer.ts'
import { deleteCustomer } from './delete-customer.ts'
import { getCustomer } from './get-customer.ts'
import { listCustomers } from './list-customers.ts'
import { updateCustomer } from './update-customer.ts'

/** The API of customers. */
export const customerOperations = [createCustomer, listCustomers, getCustomer, updateCustomer, deleteCustomer]
