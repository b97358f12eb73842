import { Order } from '@backoffice/contracts/order.ts'
import { ListQuery, listView, Page, SortedByTime } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { orderBy, sortedPage } from '@backoffice/postgres/lists/list-page.ts'
import { z } from 'zod'
import { type OrderRecord, orderBody, orderColumns } from './order.ts'
import { OrderFilters } from './order-filters.ts'
import { locatePage } from './order-page.ts'

/** GET /v1/orders (extension of OP-43). At most five statements, whatever the filters and the size of the page. */
export const listOrders = operation({
  operationId: 'listOrders',
  method: 'GET',
  path: '/v1/orders',
  summary: 'List orders',
  scope: 'sale::read',
  query: z.strictObject({ ...ListQuery.shape, ...OrderFilters.shape, ...SortedByTime }),
  responses: { 200: Page(Order) },
  refusals: ['unprocessable'],
  openPoints: ['OP-03', 'OP-42', 'OP-43', 'OP-46', 'OP-140'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = sortedPage(query)
      const { total, ids } = await locatePage(tx, query, page)
      if (page.offset >= total) return ok(listView(query, total, []))
      const orders = await tx<OrderRecord[]>`
        select ${orderColumns(tx)} from sales_order
        where workspace_id = ${tx.context.workspaceId} and id = any(array(${ids})) ${orderBy(tx, page)}`
      return ok(listView(query, total, orders.map(orderBody)))
    }),
})
