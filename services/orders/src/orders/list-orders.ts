import { Order } from '@backoffice/contracts/order.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { type OrderRecord, orderBody, orderColumns } from './order.ts'
import { OrderFilters } from './order-filters.ts'
import { locatePage, orderBy } from './order-page.ts'

const SORTS = {
  createdAt: 'createdAt',
  created_at: 'createdAt',
  updatedAt: 'updatedAt',
  updated_at: 'updatedAt',
} as const

const OrdersQuery = z.strictObject({
  ...PageQuery.shape,
  ...OrderFilters.shape,
  sort_by: z.enum(Object.keys(SORTS) as (keyof typeof SORTS)[]).default('createdAt'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
})

/** GET /v1/orders (extension of OP-43). At most three statements, whatever the filters and the size of the page. */
export const listOrders = operation({
  operationId: 'listOrders',
  method: 'GET',
  path: '/v1/orders',
  summary: 'List orders',
  scope: 'sale::read',
  query: OrdersQuery,
  responses: { 200: Page(Order) },
  openPoints: ['OP-03', 'OP-42', 'OP-43', 'OP-46', 'OP-140'],
  extension: true,

  async handle({ query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    const wanted = { sort: SORTS[query.sort_by], order: query.sort_order, size, offset }
    return inWorkspace(async (tx) => {
      const { total, ids } = await locatePage(tx, query, wanted)
      if (offset >= total) return ok(pageView(page, size, total, []))
      const orders = await tx<OrderRecord[]>`
        select ${orderColumns(tx)} from sales_order
        where workspace_id = ${tx.context.workspaceId} and id = any(array(${ids}))
        order by ${orderBy(tx, wanted)}`
      return ok(pageView(page, size, total, orders.map(orderBody)))
    })
  },
})
