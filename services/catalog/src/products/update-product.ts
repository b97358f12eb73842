import { Id } from '@backoffice/contracts/fields.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { chooseCategories } from './category-choice.ts'
import { noSuchProduct } from './get-product.ts'
import { assetIdsOf, planMedia } from './plan-media.ts'
import { refuseUnsupportedStatus } from './plan-product.ts'
import { isUnchanged, planUpdate } from './plan-update.ts'
import { UpdateProductBody } from './product-input.ts'
import { productUpdated, referencesCreated } from './product-records.ts'
import { productBody } from './product-view.ts'
import { readProducts } from './read-products.ts'
import { resolveReferences } from './references.ts'
import { chooseTags } from './tag-choice.ts'
import { writeUpdate } from './write-update.ts'

/** PUT /v1/products/{id} (spec: Products, Update rules 1–7). What is not sent stays as it is. */
export const updateProduct = operation({
  method: 'PUT',
  path: '/v1/products/{id}',
  summary: 'Update a product',
  scope: 'product::update',
  params: z.strictObject({ id: Id }),
  body: UpdateProductBody,
  responses: { 200: Product },
  openPoints: ['OP-10', 'OP-11', 'OP-12', 'OP-13', 'OP-14', 'OP-15', 'OP-16', 'OP-36', 'OP-73', 'OP-79'],

  async handle({ params, body, context, now, inWorkspace }) {
    refuseUnsupportedStatus(body.status, context.productStatuses)
    const categories = chooseCategories(body)
    const tags = chooseTags(body.tags ?? [])
    return inWorkspace(async (tx) => {
      const wanted = { options: [], tags: tags.tags, assetIds: assetIdsOf(body), ...categories }
      const [isThere, { found, made }, [current]] = await Promise.all([
        lockProduct(tx, params.id, body),
        resolveReferences(tx, wanted, body.slug ?? params.id, now),
        readProducts(tx, [params.id]),
      ])
      if (!isThere || current === undefined) throw noSuchProduct(params.id)
      const next = planUpdate(current, body, now, {
        categories: categories.pick(found.categories),
        tags: tags.pick(found.tags),
        media: planMedia(current.media, body, found.assets),
      })
      if (isUnchanged(current, next)) return ok(productBody(current))
      await writeUpdate(tx, current, next, body)
      await publish(tx, [...referencesCreated(made), ...productUpdated(next)], next.updatedAt)
      return ok(productBody(next))
    })
  },
})

/**
 * Locks the product and, where stock may be compared or variants removed, its variants: orders take stock without a lock on
 * the product. What they hold is read in a later statement.
 */
async function lockProduct(tx: Transaction, id: string, body: UpdateProductBody): Promise<boolean> {
  const workspace = tx.context.workspaceId
  const concernsVariants = [body.type, body.sku, body.price, body.cost, body.stock].some((sent) => sent !== undefined)
  const [locked] = await tx<{ id: string }[]>`
    with locked as materialized (
      select id from product where workspace_id = ${workspace} and id = ${id} for no key update
    ), locked_variants as materialized (
      select variant.id from locked join variant on variant.workspace_id = ${workspace} and variant.product_id = locked.id
      where ${concernsVariants} for no key update of variant
    )
    select id, (select count(*) from locked_variants) from locked`
  return locked !== undefined
}
