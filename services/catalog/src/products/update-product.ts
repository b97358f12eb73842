import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { pickReferences, referencesIn } from './chosen-references.ts'
import { refuseUnsupportedStatus } from './plan-product.ts'
import { isUnchanged, planUpdate } from './plan-update.ts'
import { PER_VARIANT, UpdateProductBody } from './product-input.ts'
import { productBody } from './product-view.ts'
import { lockAndRead, noSuchProduct } from './read-products.ts'
import { resolveReferences } from './references.ts'
import { ofAnotherProduct, refuseTaken } from './refuse-taken.ts'
import { writeProducts } from './write-products.ts'

/** PUT /v1/products/{id} (spec: Products, Update rules 1–7). What is not sent stays as it is. */
export const updateProduct = operation({
  operationId: 'updateProduct',
  method: 'PUT',
  path: '/v1/products/{id}',
  summary: 'Update a product',
  scope: 'product::update',
  body: UpdateProductBody,
  takesIfMatch: true,
  responses: { 200: Product },
  events: ['product.updated', 'category.created', 'tag.created'],
  openPoints: [
    'OP-10',
    'OP-11',
    'OP-12',
    'OP-120',
    'OP-13',
    'OP-14',
    'OP-15',
    'OP-16',
    'OP-36',
    'OP-73',
    'OP-79',
    'OP-168',
    'OP-266',
  ],

  async handle({ params, body, context, now, inWorkspace, requireMatch }) {
    const wanted = referencesIn(body)
    const concernsVariants = body.type !== undefined || PER_VARIANT.some((member) => body[member] !== undefined)
    return inWorkspace(async (tx) => {
      const locked = lockAndRead(tx, params.id, concernsVariants ? 'ALL' : 'NONE')
      const resolved = resolveReferences(tx, wanted, now)
      // The product may be too large (OP-192): both end before the transaction fails.
      await Promise.allSettled([locked, resolved])
      const [before, { found, newReferences }] = await Promise.all([locked, resolved])
      if (before === undefined) throw noSuchProduct(params.id)
      requireMatch?.(productBody(before))
      refuseUnsupportedStatus(body.status, context.productStatuses, before.status)
      const after = planUpdate(before, body, now, pickReferences(body, found, before.media))
      if (isUnchanged(before, after)) return ok(productBody(before))
      const change = { before, after }
      await refuseTaken(tx, change, {
        sku: (sku) => ofAnotherProduct(['sku'], sku),
        slug: (slug) => ofAnotherProduct(['slug'], slug),
      })
      await writeProducts(tx, [change], { events: { newReferences }, now })
      return ok(productBody(after))
    })
  },
})
