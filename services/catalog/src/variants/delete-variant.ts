import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { oneChangeOn } from '../products/plan-update.ts'
import { productUpdated } from '../products/product-records.ts'
import { lockProduct } from './locked-product.ts'
import { refuseDefaultVariant, refuseTheLast, variantOf } from './plan-variant.ts'

/**
 * DELETE /v1/products/{id}/variants/{variant_id} (extension of OP-19; spec: Update rules 7). The product's options keep the
 * variant's values (OP-24).
 */
export const deleteVariant = operation({
  method: 'DELETE',
  path: '/v1/products/{id}/variants/{variant_id}',
  summary: 'Delete a variant of a variable product',
  scope: 'product::delete',
  params: z.strictObject({ id: Id, variant_id: Id }),
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-19', 'OP-24', 'OP-94'],
  extension: true,

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const product = await lockProduct(tx, params.id)
      const variant = variantOf(product, params.variant_id)
      refuseDefaultVariant(product)
      refuseTheLast(product)
      const { version, updatedAt } = oneChangeOn(product, now)
      const workspace = tx.context.workspaceId
      await tx`
        with gone as (delete from variant where workspace_id = ${workspace} and id = ${variant.id})
        update product set version = ${version}, updated_at = ${updatedAt}
        where workspace_id = ${workspace} and id = ${product.id}`
      const variants = product.variants.filter((one) => one !== variant)
      await publish(tx, productUpdated({ ...product, version, updatedAt, variants }), updatedAt)
      return new Reply(204)
    }),
})
