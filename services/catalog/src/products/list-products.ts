import { ListQuery, Page, SortedByTimeOrName } from '@backoffice/contracts/pagination.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okPage } from '@backoffice/http/paged-body.ts'
import { foundPage } from '@backoffice/postgres/lists/found-page.ts'
import { sortedPage } from '@backoffice/postgres/lists/list-page.ts'
import { z } from 'zod'
import { conditionsOf, listedProducts, ProductFilters } from './product-filters.ts'
import { productBody } from './product-view.ts'
import { readWanted } from './read-products.ts'

/** GET /v1/products (extension of OP-19). At most five statements, whatever the filters and the size of the page. */
export const listProducts = operation({
  operationId: 'listProducts',
  method: 'GET',
  path: '/v1/products',
  summary: 'List products',
  scope: 'product::read',
  query: z.strictObject({ ...ListQuery.shape, ...ProductFilters.shape, ...SortedByTimeOrName }),
  responses: { 200: Page(Product) },
  openPoints: ['OP-03', 'OP-10', 'OP-11', 'OP-12', 'OP-19', 'OP-92', 'OP-93', 'OP-220'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const conditions = await conditionsOf(tx, query)
      return okPage(tx, query, {
        ...(await foundPage(tx, listedProducts(tx), conditions, sortedPage(query))),
        read: async (within, wanted) => (await readWanted(within, wanted.ids)).map(productBody),
      })
    }),
})
