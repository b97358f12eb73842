import { Product } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { chooseSlug } from '@backoffice/postgres/slug-families.ts'
import { chooseReferences } from './chosen-references.ts'
import { newProduct, planProduct } from './plan-product.ts'
import { CreateProductBody } from './product-input.ts'
import { productBody } from './product-view.ts'
import { resolveReferences } from './references.ts'
import { ofAnotherProduct, writeProducts } from './write-products.ts'

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
    const chosen = chooseReferences(body)
    const derivedSlug = slugify(body.name, 'product')
    const wanted = {
      ...chosen.wanted,
      options: plan.options.map(({ name }) => name),
      derivedSlug: body.slug ? undefined : derivedSlug,
    }
    return inWorkspace(async (tx) => {
      const { found, newReferences } = await resolveReferences(tx, wanted, now)
      const slug = body.slug ?? chooseSlug(found.families, derivedSlug)
      const references = { slug, options: found.options, ...chosen.pick(found, []) }
      const product = newProduct(body, plan, references, now)
      await writeProducts(tx, [{ before: undefined, after: product }], {
        events: { newReferences },
        taken: {
          sku: (sku) => ofAnotherProduct(plan.variants.find((variant) => variant.sku === sku)?.skuPath ?? [], sku),
          ...(body.slug && { slug: (slug: string) => ofAnotherProduct(['slug'], slug) }),
        },
        now,
      })
      return created(productBody(product))
    })
  },
})
