import { Order } from '@backoffice/contracts/order.ts'
import { ListQuery, listView, Page, SortedByTime } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okPage } from '@backoffice/http/paged-body.ts'
import { ok } from '@backoffice/http/reply.ts'
import { orderBy, sortedPage } from '@backoffice/postgres/lists/list-page.ts'
import { z } from 'zod'
import { orderBody, readOrders } from './order.ts'
import { OrderFilters } from './order-filters.ts'
import { locatePage } from './order-page.ts'

/** GET /v1/orders (extension of OP-43). At most six statements, whatever the filters, below the bound of OP-192. */
export const listOrders = operation({
  operationId: 'listOrders',
  method: 'GET',
  path: '/v1/orders',
  summary: 'List orders',
  scope: 'sale::read',
  query: z.strictObject({ ...ListQuery.shape, ...OrderFilters.shape, ...SortedByTime }),
  responses: { 200: Page(Order) },
  openPoints: ['OP-03', 'OP-42', 'OP-43', 'OP-46', 'OP-140', 'OP-219', 'OP-220'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = sortedPage(query)
      const { total, ids } = await locatePage(tx, query, page)
      if (page.offset >= total) return ok(listView(query, total, []))
      return okPage(tx, query, {
        total,
        wanted: { ids, order: orderBy(tx, page) },
        read: async (within, wanted) => (await readOrders(within, wanted)).map(orderBody),
      })
    }),
})
