import { Product } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { chooseCategories } from './category-choice.ts'
import { insertProduct } from './insert-product.ts'
import { assetIdsOf, planMedia } from './plan-media.ts'
import { type ProductPlan, planProduct } from './plan-product.ts'
import { CreateProductBody } from './product-input.ts'
import { productCreated, referencesCreated } from './product-records.ts'
import { productBody } from './product-view.ts'
import { type FoundReferences, resolveReferences } from './references.ts'
import { chooseTags } from './tag-choice.ts'

/** POST /v1/products (spec: Products, Create rules 1–4). */
export const createProduct = operation({
  method: 'POST',
  path: '/v1/products',
  summary: 'Create a product',
  scope: 'product::create',
  body: CreateProductBody,
  responses: { 201: Product },
  openPoints: ['OP-08', 'OP-10', 'OP-11', 'OP-12', 'OP-13', 'OP-14', 'OP-15', 'OP-36'],

  async handle({ body, context, now, inWorkspace }) {
    const plan = planProduct(body, context.productStatuses)
    const choice = chooseCategories(body)
    const tags = chooseTags(body.tags ?? [])
    const slug = body.slug ?? slugify(body.name, 'product')
    return inWorkspace(async (tx) => {
      const wanted = { options: plan.options, tags: tags.tags, assetIds: assetIdsOf(body), ...choice }
      const { found, made } = await resolveReferences(tx, wanted, slug, now)
      const references = {
        options: resolvedOptions(plan, found),
        categories: choice.pick(found.categories),
        tags: tags.pick(found.tags),
        media: planMedia([], body, found.assets),
      }
      const product = await insertProduct(tx, { body, plan, slug, ...references }, now)
      const answer = productBody(product)
      await publish(tx, [...referencesCreated(made), ...productCreated(product, answer)], now)
      return created(answer)
    })
  },
})

function resolvedOptions(plan: ProductPlan, found: FoundReferences): Product['options'] {
  const idByName = new Map(found.options.map(({ id, name }) => [name, id]))
  return plan.options.map(({ name, values }) => ({ id: idByName.get(name) ?? '', name, values: [...values] }))
}
