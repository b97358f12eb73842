import { Product } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created, type Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { chooseSlug, lockFamilies } from '@backoffice/postgres/slug-families.ts'
import { pickReferences, referencesIn } from './chosen-references.ts'
import { newProduct, planProduct } from './plan-product.ts'
import { CreateProductBody } from './product-input.ts'
import { productBody } from './product-view.ts'
import { PRODUCT_SLUGS, resolveReferences } from './references.ts'
import { ofAnotherProduct, writeProducts } from './write-products.ts'

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
  openPoints: ['OP-08', 'OP-10', 'OP-11', 'OP-12', 'OP-120', 'OP-13', 'OP-14', 'OP-15', 'OP-36', 'OP-168'],

  async handle({ body, context, now, inWorkspace }) {
    const plan = planProduct(body, context.productStatuses)
    const wanted = referencesIn(body)
    return inWorkspace(async (tx) => {
      const { found, newReferences } = await resolveReferences(tx, wanted, now)
      const write = async (slug: string, slugTaken?: (slug: string) => Error) => {
        const references = { slug, options: found.options, ...pickReferences(body, found, []) }
        const product = newProduct(body, plan, references, now)
        const skuTaken = (sku: string) =>
          ofAnotherProduct(plan.variants.find((variant) => variant.members.sku === sku)?.skuPath ?? [], sku)
        await writeProducts(tx, [{ before: undefined, after: product }], {
          events: { newReferences },
          taken: { sku: skuTaken, ...(slugTaken && { slug: slugTaken }) },
          now,
        })
        return created(productBody(product))
      }
      if (body.slug) return write(body.slug, (slug) => ofAnotherProduct(['slug'], slug))
      return withDerivedSlug(tx, slugify(body.name, 'product'), write)
    })
  },
})

class DerivedSlugTaken extends Error {}

/**
 * Writes a product with its derived slug or, when another product has that one, with the next number of its family.
 * Most derived slugs are new, so the family is locked and read only when needed (decision 002).
 */
async function withDerivedSlug(
  tx: Transaction,
  derived: string,
  write: (slug: string, slugTaken?: () => Error) => Promise<Reply>,
): Promise<Reply> {
  try {
    return await write(derived, () => new DerivedSlugTaken())
  } catch (error) {
    if (!(error instanceof DerivedSlugTaken)) throw error
  }
  const families = await lockFamilies(tx, PRODUCT_SLUGS, [derived])
  return write(chooseSlug(families, derived))
}
