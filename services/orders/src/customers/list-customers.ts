import { Customer } from '@backoffice/contracts/customer.ts'
import { ListQuery, Page, SortedByTimeOrName } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okPage } from '@backoffice/http/paged-body.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { foundPage } from '@backoffice/postgres/lists/found-page.ts'
import { sortedPage } from '@backoffice/postgres/lists/list-page.ts'
import { readSized, type WantedRows } from '@backoffice/postgres/lists/sized-rows.ts'
import { z } from 'zod'
import { type CustomerRecord, customerBody, customerColumns } from './customer.ts'
import { CustomerFilters, conditionsOf, listedCustomers } from './customer-filters.ts'

/** GET /v1/customers (extension of OP-40). At most five statements, whatever the filters, below the bound of OP-192. */
export const listCustomers = operation({
  operationId: 'listCustomers',
  method: 'GET',
  path: '/v1/customers',
  summary: 'List customers',
  scope: 'customer::read',
  query: z.strictObject({ ...ListQuery.shape, ...CustomerFilters.shape, ...SortedByTimeOrName }),
  responses: { 200: Page(Customer) },
  openPoints: ['OP-03', 'OP-09', 'OP-40', 'OP-132', 'OP-220'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const conditions = await conditionsOf(tx, query)
      return okPage(tx, query, {
        ...(await foundPage(tx, listedCustomers(tx), conditions, sortedPage(query))),
        read: async (within, wanted) => (await readCustomers(within, wanted)).map(customerBody),
      })
    }),
})

/** About the bytes of a customer beside its note. */
const CUSTOMER_BYTES = 500

/** Reads customers. One that was erased meanwhile is left out. */
const readCustomers = (tx: Transaction, wanted: WantedRows) =>
  readSized<CustomerRecord>(tx, {
    ...wanted,
    columns: tx`${customerColumns(tx)}`,
    source: tx`from customer where workspace_id = ${tx.context.workspaceId}`,
    bytes: tx`octet_length(coalesce(note, '')) + ${CUSTOMER_BYTES}`,
  })
