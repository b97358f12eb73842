import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { conditionsOf, ProductFilters } from './product-filters.ts'
import { countProducts, pageOfIds } from './product-page.ts'
import { productBody } from './product-view.ts'
import { readProducts } from './read-products.ts'

const SORTS = {
  createdAt: 'createdAt',
  created_at: 'createdAt',
  updatedAt: 'updatedAt',
  updated_at: 'updatedAt',
  name: 'name',
} as const

const ProductsQuery = z.strictObject({
  ...PageQuery.shape,
  ...ProductFilters.shape,
  sort_by: z.enum(Object.keys(SORTS) as (keyof typeof SORTS)[]).default('createdAt'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
})

/** GET /v1/products (extension of OP-19). At most four statements, whatever the filters and the size of the page. */
export const listProducts = operation({
  operationId: 'listProducts',
  method: 'GET',
  path: '/v1/products',
  summary: 'List products',
  scope: 'product::read',
  query: ProductsQuery,
  responses: { 200: Page(Product) },
  openPoints: ['OP-03', 'OP-10', 'OP-11', 'OP-12', 'OP-19', 'OP-92', 'OP-93'],
  extension: true,

  async handle({ query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    const wanted = { sort: SORTS[query.sort_by], order: query.sort_order, size, offset }
    return inWorkspace(async (tx) => {
      const conditions = await conditionsOf(tx, query)
      const total = await countProducts(tx, conditions)
      const ids = await pageOfIds(tx, conditions, total, wanted)
      const products = ids.length === 0 ? [] : await readProducts(tx, ids)
      return ok(pageView(page, size, total, products.map(productBody)))
    })
  },
})
