import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { noSuchProduct } from './get-product.ts'
import { productDeleted } from './product-records.ts'

/** DELETE /v1/products/{id} (spec: Products; OP-17). Variants, memberships and media go with it. */
export const deleteProduct = operation({
  operationId: 'deleteProduct',
  method: 'DELETE',
  path: '/v1/products/{id}',
  summary: 'Delete a product',
  scope: 'product::delete',
  params: z.strictObject({ id: Id }),
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-17'],

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [deleted] = await tx<{ id: string }[]>`
        delete from product where workspace_id = ${tx.context.workspaceId} and id = ${params.id} returning id`
      if (deleted === undefined) throw noSuchProduct(params.id)
      await publish(tx, productDeleted(deleted.id), now)
      return new Reply(204)
    }),
})
