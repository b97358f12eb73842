import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { productBody } from './product-view.ts'
import { noSuchProduct, readProduct } from './read-products.ts'

/** GET /v1/products/{id} (extension of OP-19). */
export const getProduct = operation({
  operationId: 'getProduct',
  method: 'GET',
  path: '/v1/products/{id}',
  summary: 'Read a product',
  scope: 'product::read',
  responses: { 200: Product },
  openPoints: ['OP-10', 'OP-11', 'OP-12', 'OP-19'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const product = await readProduct(tx, params.id, tx.last)
      if (product === undefined) throw noSuchProduct(params.id)
      return ok(productBody(product))
    }),
})
