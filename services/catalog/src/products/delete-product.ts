import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { laterThan, publish } from '@backoffice/postgres/outbox.ts'
import { productDeleted } from './product-records.ts'
import { lockProducts, lockVariants, noSuchProduct } from './read-products.ts'

/** DELETE /v1/products/{id} (spec: Products; OP-17). Variants, memberships and media go with it. */
export const deleteProduct = operation({
  operationId: 'deleteProduct',
  method: 'DELETE',
  path: '/v1/products/{id}',
  summary: 'Delete a product',
  scope: 'product::delete',
  responses: { 204: null },
  events: ['product.deleted'],
  openPoints: ['OP-01', 'OP-17'],

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [locked] = await lockProducts(tx, [params.id])
      if (locked === undefined) throw noSuchProduct(params.id)
      // The deletion itself would lock them in any order.
      await lockVariants(tx, [locked])
      const [{ updatedAt }] = await tx<[{ updatedAt: Date }]>`
        delete from product where workspace_id = ${tx.context.workspaceId} and id = ${locked}
        returning updated_at as "updatedAt"`
      await publish(tx, productDeleted(locked), laterThan(updatedAt, now))
      return new Reply(204)
    }),
})
