import { Product } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { chooseSlug, lockFamilies } from '@backoffice/postgres/slug-families.ts'
import { pickReferences, referencesIn } from './chosen-references.ts'
import { newProduct, planProduct } from './plan-product.ts'
import { CreateProductBody } from './product-input.ts'
import { productBody } from './product-view.ts'
import { PRODUCT_SLUGS, resolveReferences } from './references.ts'
import { findTaken, ofAnotherProduct } from './refuse-taken.ts'
import { writeProducts } from './write-products.ts'

/** POST /v1/products (spec: Products, Create rules 1–4). */
export const createProduct = operation({
  operationId: 'createProduct',
  method: 'POST',
  path: '/v1/products',
  summary: 'Create a product',
  scope: 'product::create',
  body: CreateProductBody,
  responses: { 201: Product },
  events: ['product.created', 'category.created', 'tag.created'],
  openPoints: ['OP-08', 'OP-10', 'OP-11', 'OP-12', 'OP-120', 'OP-13', 'OP-14', 'OP-15', 'OP-36', 'OP-168', 'OP-323'],

  async handle({ body, context, now, inWorkspace }) {
    const wanted = referencesIn(body)
    const wantedSlug = body.slug ?? slugify(body.name, 'product')
    return inWorkspace(async (tx) => {
      // Here, since a request is repeated with its answer also once the workspace has switched its status off (OP-08).
      const plan = planProduct(body, context.productStatuses)
      const skus = plan.variants.map(({ members }) => members.sku)
      const [taken, { found, newReferences }] = await Promise.all([
        findTaken(tx, skus, [wantedSlug]),
        resolveReferences(tx, wanted, now),
      ])
      const picked = pickReferences(body, found, [])
      for (const { skuPath, members } of plan.variants) {
        if (taken.skus.has(members.sku)) throw ofAnotherProduct(skuPath, members.sku)
      }
      const isTaken = taken.slugs.has(wantedSlug)
      if (body.slug && isTaken) throw ofAnotherProduct(['slug'], wantedSlug)
      // Most derived slugs are new, so the family is locked and read only when needed (decision 002).
      const slug = isTaken ? chooseSlug(await lockFamilies(tx, PRODUCT_SLUGS, [wantedSlug]), wantedSlug) : wantedSlug
      const references = { slug, options: found.options, ...picked }
      const product = newProduct(body, plan, references, now)
      await writeProducts(tx, [{ before: undefined, after: product }], { events: { newReferences }, now })
      return created(productBody(product))
    })
  },
})
