import { badRequest, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { ProductRow } from '@backoffice/contracts/imports.ts'
import type { CategoryReference } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import type { ImportBatch } from '@backoffice/messaging/import-batches.ts'
import { type Row, RowOutcomes } from '@backoffice/messaging/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { chooseCategories } from '../products/category-choice.ts'
import { planProduct, refuseUnsupportedStatus } from '../products/plan-product.ts'
import { isUnchanged, planUpdate } from '../products/plan-update.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { readProducts } from '../products/read-products.ts'
import { chooseTags, type TagChoice } from '../products/tag-choice.ts'
import { crowded, findSlugs, lockFamilies, slugChooser } from './choose-slugs.ts'
import { findReferences } from './find-references.ts'
import { type LockedProducts, lockProductsOf } from './lock-products.ts'
import { type ProductChange, writeProducts } from './write-products.ts'

/** A row that can be applied, but for what it shares with other rows: slugs and tags. */
interface PlannedRow extends Row<ProductRow> {
  /** The product as it is; a blank one for a new product. */
  readonly base: ProductRecord
  readonly isNew: boolean
  readonly categories: CategoryReference[]
  readonly tags: TagChoice
}

/** What the workspace has of what the rows name. */
interface Known {
  readonly locked: LockedProducts
  readonly bySku: ReadonlyMap<string, ProductRecord>
  /** Slug → the id of the product that has it. */
  readonly slugs: ReadonlyMap<string, string>
  readonly categories: ReadonlyMap<string, CategoryReference>
}

/**
 * Applies rows of the template `products` (OP-54, OP-55): creates simple and virtual products, and sets what is given of those
 * that have the SKU, by the rules of POST and PUT /v1/products.
 */
export async function importProducts(tx: Transaction, batch: ImportBatch, now: Date): Promise<RowOutcomes> {
  const outcomes = new RowOutcomes()
  const rows = outcomes.read(ProductRow, 'sku', batch.rows)
  const known = await findKnown(tx, rows, batch, now)
  const explicit = new Set<string>()
  const planned = rows.flatMap(
    (row) => outcomes.attempt(row, () => planRow(row, known, explicit, batch.product_statuses, now)) ?? [],
  )
  const slugOf = await chooseSlugs(tx, planned, known, explicit)
  const tags = await findTags(tx, planned, batch, now)
  const changes = planned.flatMap((row): ProductChange[] => {
    const slug = outcomes.attempt(row, () => slugOf(row))
    if (slug === undefined) return []
    const references = {
      categories: row.categories,
      tags: row.tags.pick(row.tags.tags.flatMap(({ slug }) => tags.get(slug) ?? [])),
      media: row.base.media,
    }
    const next = planUpdate(row.base, { ...row.values, slug }, now, references)
    outcomes.applied(row, row.isNew ? 'created' : 'updated')
    if (row.isNew) return [{ current: undefined, next }]
    return isUnchanged(row.base, next) ? [] : [{ current: row.base, next }]
  })
  await writeProducts(tx, changes, now)
  return outcomes
}

async function findKnown(
  tx: Transaction,
  rows: readonly Row<ProductRow>[],
  batch: ImportBatch,
  now: Date,
): Promise<Known> {
  const skus = rows.map(({ values }) => values.sku)
  const locked = await lockProductsOf(tx, skus)
  const ids = locked.products.filter(({ type }) => type !== 'VARIABLE_PRODUCT').map(({ id }) => id)
  const slugs = rows.flatMap(({ values }) => values.slug ?? (locked.bySku.has(values.sku) ? [] : derivedSlug(values)))
  const categorySlugs = [...new Set(rows.flatMap(({ values }) => values.categories ?? []))]
  const [products, takenSlugs, { categories }] = await Promise.all([
    ids.length === 0 ? [] : readProducts(tx, ids),
    findSlugs(tx, slugs),
    categorySlugs.length === 0 ? { categories: [] } : findReferences(tx, { categorySlugs }, batch, now),
  ])
  return {
    locked,
    bySku: new Map(products.flatMap((product) => product.variants.map(({ sku }) => [sku, product]))),
    slugs: takenSlugs,
    categories: new Map(categories.map((category) => [category.slug, category])),
  }
}

/** Throws what the row is refused for. Explicit slugs are noted, so that no other row gets them. */
function planRow(
  { row, values }: Row<ProductRow>,
  known: Known,
  explicit: Set<string>,
  statuses: ImportBatch['product_statuses'],
  now: Date,
): PlannedRow {
  if (known.locked.bySku.get(values.sku)?.type === 'VARIABLE_PRODUCT') {
    throw unprocessable('sku: belongs to a variant of a VARIABLE_PRODUCT; import it with the template product_variants')
  }
  const current = known.bySku.get(values.sku)
  refuseUnsupportedStatus(values.status, statuses)
  const base = current ?? blankProduct(values, statuses, now)
  const found = (values.categories ?? []).flatMap((slug) => known.categories.get(slug) ?? [])
  const categories = chooseCategories(values).pick(found)
  if (values.slug !== undefined) {
    const owner = known.slugs.get(values.slug)
    if (owner !== undefined && owner !== current?.id) {
      throw conflict(`slug: "${values.slug}" belongs to another product of this workspace`)
    }
    if (explicit.has(values.slug)) throw conflict(`slug: an earlier row gives "${values.slug}" to another product`)
    explicit.add(values.slug)
  }
  return { row, values, base, isNew: current === undefined, categories, tags: chooseTags(values.tags ?? []) }
}

/** A new product before anything optional is set: with what creating one gives it (OP-13), its version still to come. */
function blankProduct(values: ProductRow, statuses: ImportBatch['product_statuses'], now: Date): ProductRecord {
  const { sku, name, stock, type = 'SIMPLE_PRODUCT' } = values
  if (name === undefined) throw badRequest('name: is required for a new product')
  const { status, requiresShipping } = planProduct({ ...values, name, type }, statuses)
  return {
    id: uuidv7(),
    name,
    slug: '',
    status,
    type,
    description: null,
    requiresShipping,
    canPreorder: false,
    preorderStopsAt: null,
    maxCartQuantity: null,
    lowStockThreshold: null,
    purchaseNote: null,
    taxClass: null,
    version: 0,
    categories: [],
    tags: [],
    options: [],
    media: [],
    variants: [{ id: uuidv7(), sku, stock: stock ?? 0, price: {}, cost: {}, attributes: {} }],
    createdAt: now,
    updatedAt: now,
  }
}

const derivedSlug = ({ name = '' }: ProductRow): string => slugify(name, 'product')

/** Chooses the slugs of new products that come without one; the others have theirs. */
async function chooseSlugs(tx: Transaction, planned: readonly PlannedRow[], { slugs }: Known, explicit: Set<string>) {
  const isDerived = ({ isNew, values }: PlannedRow) => isNew && values.slug === undefined
  const derived = planned.filter(isDerived).map(({ values }) => derivedSlug(values))
  const families = await lockFamilies(
    tx,
    crowded(derived, (slug) => slugs.has(slug) || explicit.has(slug)),
  )
  const choose = slugChooser(families, explicit, derived)
  return (row: PlannedRow) => (isDerived(row) ? choose(derivedSlug(row.values)) : (row.values.slug ?? row.base.slug))
}

/** The tags that the rows name, by slug, made where missing; no event tells of them (OP-72). */
async function findTags(tx: Transaction, planned: readonly PlannedRow[], batch: ImportBatch, now: Date) {
  const wanted = new Map(planned.flatMap((row) => row.tags.tags.map((tag) => [tag.slug, tag])))
  const { tags } =
    wanted.size === 0 ? { tags: [] } : await findReferences(tx, { tags: [...wanted.values()] }, batch, now)
  return new Map(tags.map((tag) => [tag.slug, tag]))
}
