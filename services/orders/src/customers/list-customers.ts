import { Customer } from '@backoffice/contracts/customer.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type CustomerRecord, customerBody, customerColumns } from './customer.ts'
import { CustomerFilters, conditionsOf } from './customer-filters.ts'
import { countCustomers, pageOfIds } from './customer-page.ts'

const SORTS = {
  createdAt: 'createdAt',
  created_at: 'createdAt',
  updatedAt: 'updatedAt',
  updated_at: 'updatedAt',
  name: 'name',
} as const

const CustomersQuery = z.strictObject({
  ...PageQuery.shape,
  ...CustomerFilters.shape,
  sort_by: z.enum(Object.keys(SORTS) as (keyof typeof SORTS)[]).default('createdAt'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
})

/** GET /v1/customers (extension of OP-40). At most four statements, whatever the filters and the size of the page. */
export const listCustomers = operation({
  operationId: 'listCustomers',
  method: 'GET',
  path: '/v1/customers',
  summary: 'List customers',
  scope: 'customer::read',
  query: CustomersQuery,
  responses: { 200: Page(Customer) },
  openPoints: ['OP-03', 'OP-09', 'OP-40', 'OP-132'],
  extension: true,

  async handle({ query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    const wanted = { sort: SORTS[query.sort_by], order: query.sort_order, size, offset }
    return inWorkspace(async (tx) => {
      const conditions = await conditionsOf(tx, query)
      const total = await countCustomers(tx, conditions)
      const ids = await pageOfIds(tx, conditions, total, wanted)
      const customers = ids.length === 0 ? [] : await readCustomers(tx, ids)
      return ok(pageView(page, size, total, customers.map(customerBody)))
    })
  },
})

/** The customers with these ids, in the order of the ids. One that was erased meanwhile is left out. */
const readCustomers = (tx: Transaction, ids: readonly string[]) => tx<CustomerRecord[]>`
  select ${customerColumns(tx)} from customer
  where workspace_id = ${tx.context.workspaceId} and id = any(${ids as string[]}::uuid[])
  order by array_position(${ids as string[]}::uuid[], id)`
