import { TOPICS } from '@backoffice/contracts/events.ts'
import { Product, type Tag } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type OutboxRecord, outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { chooseCategories } from './category-choice.ts'
import { insertProduct } from './insert-product.ts'
import { type ProductPlan, planProduct } from './plan-product.ts'
import { CreateProductBody } from './product-input.ts'
import { type ProductRecord, productBody, productState } from './product-view.ts'
import { type FoundReferences, type MadeReferences, type NamedReference, resolveReferences } from './references.ts'
import { slugify } from './slug.ts'

/** POST /v1/products (spec: Products, Create rules 1–4). */
export const createProduct = operation({
  method: 'POST',
  path: '/v1/products',
  summary: 'Create a product',
  scope: 'product::create',
  body: CreateProductBody,
  responses: { 201: Product },
  openPoints: ['OP-08', 'OP-10', 'OP-11', 'OP-12', 'OP-13', 'OP-14', 'OP-15'],

  async handle({ body, context, now, inWorkspace }) {
    const plan = planProduct(body, context.productStatuses)
    const choice = chooseCategories(body)
    const tags = namedTags(body.tags ?? [])
    const slug = body.slug ?? slugify(body.name, 'product')
    return inWorkspace(async (tx) => {
      const { found, made } = await resolveReferences(tx, { options: plan.options, tags, ...choice }, slug, now)
      const categories = choice.pick(found.categories)
      const product = await insertProduct(
        tx,
        { body, plan, slug, categories, options: resolvedOptions(plan, found), tags: inOrder(tags, found.tags) },
        now,
      )
      const answer = productBody(product)
      await publish(tx, recordsOf(product, answer, made), now)
      return created(answer)
    })
  },
})

/** A product's tags by slug, each once, in the order sent. */
function namedTags(names: readonly string[]): NamedReference[] {
  const tags = new Map<string, NamedReference>()
  for (const name of names) {
    const slug = slugify(name, 'tag')
    if (!tags.has(slug)) tags.set(slug, { name, slug })
  }
  return [...tags.values()]
}

function inOrder(wanted: readonly NamedReference[], found: readonly Tag[]): Tag[] {
  const bySlug = new Map(found.map((tag) => [tag.slug, tag]))
  return wanted.flatMap(({ slug }) => bySlug.get(slug) ?? [])
}

function resolvedOptions(plan: ProductPlan, found: FoundReferences): Product['options'] {
  const idByName = new Map(found.options.map(({ id, name }) => [name, id]))
  return plan.options.map(({ name, values }) => ({ id: idByName.get(name) ?? '', name, values: [...values] }))
}

function recordsOf(product: ProductRecord, body: Product, made: MadeReferences): OutboxRecord[] {
  return [
    ...made.categories.map((category) =>
      outboxRecord(TOPICS.catalogEvents, 'category.created', category.id, { ...category, parent: null, position: 0 }),
    ),
    ...made.tags.map((tag) => outboxRecord(TOPICS.catalogEvents, 'tag.created', tag.id, tag)),
    outboxRecord(TOPICS.catalogEvents, 'product.created', product.id, body),
    outboxRecord(TOPICS.catalogProducts, 'product.state', product.id, productState(product, body)),
  ]
}
