import { Id, orAbsent } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { Variant } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { isUnchanged, oneChangeOn } from '../products/plan-update.ts'
import { variantBody } from '../products/product-view.ts'
import { lockProduct } from '../products/read-products.ts'
import { refuseTaken } from '../products/refuse-taken.ts'
import { writeProducts } from '../products/write-products.ts'
import { CreateVariantBody, skuTaken } from './create-variant.ts'
import { refuseDefaultVariant, variantOf, withChangedVariant } from './plan-variant.ts'

const UpdateVariantBody = named(
  'VariantUpdate',
  CreateVariantBody.partial().extend({ attributes: orAbsent(CreateVariantBody.shape.attributes) }),
  { price: { EUR: 5200 }, stock: 9 },
)

/** PUT /v1/products/{id}/variants/{variant_id} (extension of OP-19; spec: Update rules 7). What is not sent stays. */
export const updateVariant = operation({
  operationId: 'updateVariant',
  method: 'PUT',
  path: '/v1/products/{id}/variants/{variant_id}',
  summary: 'Update a variant of a variable product',
  scope: 'product::update',
  params: z.strictObject({ id: Id, variant_id: Id }),
  body: UpdateVariantBody,
  responses: { 200: Variant },
  events: ['product.updated'],
  openPoints: ['OP-11', 'OP-12', 'OP-120', 'OP-15', 'OP-19', 'OP-22', 'OP-24', 'OP-73', 'OP-94'],
  extension: true,

  handle: ({ params, body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const before = await lockProduct(tx, params.id, { id: params.variant_id })
      const current = variantOf(before, params.variant_id)
      refuseDefaultVariant(before)
      const after = { ...withChangedVariant(before, current, body), ...oneChangeOn(before, now) }
      if (isUnchanged(before, after)) return ok(variantBody(current))
      const change = { before, after }
      await refuseTaken(tx, change, { sku: skuTaken })
      await writeProducts(tx, [change], { events: {}, now: after.updatedAt })
      return ok(variantBody(variantOf(after, current.id)))
    }),
})
