import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { oneChangeOn } from '../products/plan-update.ts'
import { lockProduct } from '../products/read-products.ts'
import { writeProducts } from '../products/write-products.ts'
import { refuseDefaultVariant, refuseTheLast, variantOf } from './plan-variant.ts'

/**
 * DELETE /v1/products/{id}/variants/{variant_id} (extension of OP-19; spec: Update rules 7). The product's options keep
 * the variant's values (OP-24).
 */
export const deleteVariant = operation({
  operationId: 'deleteVariant',
  method: 'DELETE',
  path: '/v1/products/{id}/variants/{variant_id}',
  summary: 'Delete a variant of a variable product',
  scope: 'product::delete',
  params: z.strictObject({ id: Id, variant_id: Id }),
  responses: { 204: null },
  refusals: ['unprocessable'],
  events: ['product.updated'],
  openPoints: ['OP-01', 'OP-19', 'OP-24', 'OP-94'],
  extension: true,

  handle: ({ params, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const before = await lockProduct(tx, params.id, 'NONE')
      const variant = variantOf(before, params.variant_id)
      refuseDefaultVariant(before)
      refuseTheLast(before)
      const variants = before.variants.filter((one) => one !== variant)
      const after = { ...before, variants, ...oneChangeOn(before, now) }
      await writeProducts(tx, [{ before, after }], { events: {}, now: after.updatedAt })
      return new Reply(204)
    }),
})
