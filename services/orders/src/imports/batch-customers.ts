import { CUSTOMER } from '@backoffice/contracts/customer.ts'
import { named } from '@backoffice/contracts/named.ts'
import { refuseWithout } from '@backoffice/contracts/scopes.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { batchOperation, keyBy, type SentRow } from '@backoffice/importing/batch-operation.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { CustomerChanges, customerEvent, emailKey, NewCustomer } from '../customers/customer.ts'
import { planCustomers, writeCustomers } from './import-customers.ts'
import type { CustomerChange } from './undo-customers.ts'

/** POST /v1/customers/batch: a row is the body of PUT where a customer has its address, else that of POST (OP-275). */
export const batchCustomers = batchOperation<CustomerChange[]>({
  operationId: 'batchCustomers',
  path: '/v1/customers/batch',
  summary: 'Create or update up to 1,000 customers',
  scope: 'customer::create',
  openPoints: ['OP-08', 'OP-275', 'OP-276', 'OP-277'],
  events: ['customer.created', 'customer.updated'],
  name: 'CustomerBatch',
  row: named('CustomerBatchRow', z.strictObject(CUSTOMER.shapes.update), {
    email: 'ada@example.com',
    firstname: 'Ada',
    lastname: 'Lovelace',
  }),
  keysOf: keyBy('email', 'email_taken', emailKey),

  writer: ({ scopes }) => ({
    plan(tx, rows, outcomes, now) {
      const sent = {
        rows,
        isCheck: false,
        create: (row: SentRow) => validate(NewCustomer, row, 'row'),
        update(row: SentRow) {
          refuseWithout('customer::update', scopes)
          return validate(CustomerChanges, row, 'row')
        },
      }
      return planCustomers(tx, sent, outcomes, now)
    },

    async write(tx, changes, now) {
      await writeCustomers(tx, changes)
      const events = changes.map(({ current, next }) =>
        customerEvent(current === undefined ? 'customer.created' : 'customer.updated', next),
      )
      await publish(tx, events, now)
    },
  }),
})
