import { Customer } from '@backoffice/contracts/customer.ts'
import { ListQuery, listView, Page, SortedByTimeOrName } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { foundPage } from '@backoffice/postgres/lists/found-page.ts'
import { sortedPage } from '@backoffice/postgres/lists/list-page.ts'
import { z } from 'zod'
import { type CustomerRecord, customerBody, customerColumns } from './customer.ts'
import { CustomerFilters, conditionsOf, listedCustomers } from './customer-filters.ts'

/** GET /v1/customers (extension of OP-40). At most five statements, whatever the filters and the size of the page. */
export const listCustomers = operation({
  operationId: 'listCustomers',
  method: 'GET',
  path: '/v1/customers',
  summary: 'List customers',
  scope: 'customer::read',
  query: z.strictObject({ ...ListQuery.shape, ...CustomerFilters.shape, ...SortedByTimeOrName }),
  responses: { 200: Page(Customer) },
  refusals: ['unprocessable'],
  openPoints: ['OP-03', 'OP-09', 'OP-40', 'OP-132'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const conditions = await conditionsOf(tx, query)
      const { total, ids } = await foundPage(tx, listedCustomers(tx), conditions, sortedPage(query))
      const customers = ids.length === 0 ? [] : await readCustomers(tx, ids)
      return ok(listView(query, total, customers.map(customerBody)))
    }),
})

/** The customers with these ids, in the order of the ids. One that was erased meanwhile is left out. */
const readCustomers = (tx: Transaction, ids: readonly string[]) => tx<CustomerRecord[]>`
  select ${customerColumns(tx)} from customer
  where workspace_id = ${tx.context.workspaceId} and id = any(${ids as string[]}::uuid[])
  order by array_position(${ids as string[]}::uuid[], id)`
