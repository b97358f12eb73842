import { badRequest, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { ProductRow } from '@backoffice/contracts/imports.ts'
import type { CategoryReference, Tag } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { rowsPerStatement } from '@backoffice/importing/import-batches.ts'
import type { RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { lockFamilies, slugChooser, takenOrRepeatedSlugs } from '@backoffice/postgres/slug-families.ts'
import { pickCategories, pickTags, type ResolvedReferences, tagsIn } from '../products/chosen-references.ts'
import { newProduct, planProduct, refuseUnsupportedStatus } from '../products/plan-product.ts'
import { isUnchanged, planUpdate } from '../products/plan-update.ts'
import type { ProductChange } from '../products/product-difference.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { readProducts } from '../products/read-products.ts'
import { type NamedReference, PRODUCT_SLUGS, resolveReferences } from '../products/references.ts'
import { findProductsOf, findSlugs } from './find-products.ts'
import { PRODUCT_CHANGES, type ProductImporter } from './product-changes.ts'
import { planVariableProducts, planVariableRow, type VariableRow } from './variable-products.ts'

/** Decides the product of a row, once the slugs and references that rows share are resolved. */
type Decide = (slug: string, references: ResolvedReferences) => ProductRecord

/** A row that fits the products, slugs and categories of the workspace. */
interface PlannedRow extends Row<ProductRow> {
  /** The product that has the SKU; undefined for a new one. */
  readonly before: ProductRecord | undefined
  readonly decide: Decide
  readonly categories: CategoryReference[]
  readonly tags: NamedReference[]
}

/**
 * Rows of the template `products` (OP-54, OP-55): creates simple and virtual products, and updates the products that
 * have the SKU, by the rules of POST and PUT /v1/products. Rows of variable products are variants (OP-278).
 */
export const importProducts: ProductImporter = {
  async *plan(tx, batch, outcomes, now) {
    const rows = outcomes.read(ProductRow, 'sku', batch.rows)
    const known = await findKnown(tx, batch, rows, now)
    const planned: PlannedRow[] = []
    const variable: VariableRow[] = []
    for (const row of rows) {
      outcomes.attempt(row, () => {
        if (row.values.type === 'VARIABLE_PRODUCT') variable.push(planVariant(row, known, batch.product_statuses))
        else planned.push(planRow(row, known, batch.product_statuses, now))
      })
    }
    const slugOf = await chooseSlugs(tx, batch, planned, known)
    // A check needs the tags of existing products only, to compare them.
    const isThere = (row: PlannedRow | VariableRow) => ('before' in row ? row.before : row.product) !== undefined
    const tags = await findTags(
      tx,
      batch,
      [...planned, ...variable].filter((row) => !batch.isCheck || isThere(row)),
      now,
    )
    const changesOf = (row: PlannedRow): ProductChange[] => {
      const slug = outcomes.attempt(row, () => slugOf(row))
      if (slug === undefined) return []
      const { before, decide, categories } = row
      const isNew = before === undefined
      if (isNew && batch.isCheck) {
        // A check does not make a new product: there is nothing to compare, and its random ids take long.
        outcomes.planned(row, { isNew, isChanged: true })
        return []
      }
      const found = row.tags.flatMap(({ slug }) => tags.get(slug) ?? [])
      const after = decide(slug, { categories, tags: pickTags(row.tags, found), media: before?.media ?? [] })
      const isChanged = isNew || !isUnchanged(before, after)
      outcomes.planned(row, { isNew, isChanged })
      return isChanged ? [{ before, after }] : []
    }
    const size = rowsPerStatement(planned.length)
    for (let from = 0; from < planned.length; from += size) yield planned.slice(from, from + size).flatMap(changesOf)
    yield* planVariableProducts(tx, variable, { tags, isCheck: batch.isCheck, outcomes }, now)
  },

  ...PRODUCT_CHANGES,
}

/** Products, slugs and categories that the rows name and the workspace has. */
async function findKnown(tx: Transaction, batch: RowsToPlan, rows: readonly Row<ProductRow>[], now: Date) {
  const skus = rows.map(({ values }) => values.sku)
  const names = rows.flatMap(({ values: { type, slug } }) => (type === 'VARIABLE_PRODUCT' && slug) || [])
  const found = await findProductsOf(tx, batch, skus, names)
  const ids = found.products.filter(({ type }) => type !== 'VARIABLE_PRODUCT').map(({ id }) => id)
  // A derived slug is never refused, so a check looks at explicit ones only.
  const derivesSlug = ({ sku, type }: ProductRow) =>
    !batch.isCheck && type !== 'VARIABLE_PRODUCT' && !found.bySku.has(sku)
  const slugs = rows.flatMap(({ values }) => values.slug ?? (derivesSlug(values) ? derivedSlug(values) : []))
  const categorySlugs = [...new Set(rows.flatMap(({ values }) => values.categories ?? []))]
  const [products, slugOwners, references] = await Promise.all([
    ids.length === 0 ? [] : readProducts(tx, ids),
    findSlugs(tx, slugs),
    resolveReferences(tx, { categorySlugs }, now),
  ])
  return {
    found,
    bySku: new Map(products.flatMap((product) => product.variants.map(({ sku }) => [sku, product]))),
    slugOwners,
    /** The slugs that rows give: no other row gets one. */
    explicit: new Set<string>(),
    /** Those among them of new variable products, which several rows give. */
    variable: new Set<string>(),
    categories: new Map(references.found.categories.map((category) => [category.slug, category])),
  }
}
type Known = Awaited<ReturnType<typeof findKnown>>

/** Throws the row's refusal. Adds the row's slug to the explicit ones. */
function planRow(
  { row, values }: Row<ProductRow>,
  known: Known,
  statuses: RowsToPlan['product_statuses'],
  now: Date,
): PlannedRow {
  if (known.found.bySku.get(values.sku)?.type === 'VARIABLE_PRODUCT') {
    throw unprocessable(
      ['sku'],
      'belongs to a variant of a VARIABLE_PRODUCT; import it with the template product_variants',
    )
  }
  if (values.option1_name !== undefined) {
    throw unprocessable(['option1_name'], 'belongs to a variant: give the row the type VARIABLE_PRODUCT')
  }
  const before = known.bySku.get(values.sku)
  refuseUnsupportedStatus(values.status, statuses)
  const decide = before === undefined ? creation(values, statuses, now) : update(before, values, now)
  const categories = categoriesOf(values, known)
  if (values.slug !== undefined) {
    const owner = known.slugOwners.get(values.slug)
    if (owner !== undefined && owner !== before?.id) {
      throw conflict(['slug'], `"${values.slug}" belongs to another product of this workspace`, 'slug_taken')
    }
    if (known.explicit.has(values.slug)) {
      throw conflict(['slug'], `an earlier row gives "${values.slug}" to another product`, 'slug_taken')
    }
    known.explicit.add(values.slug)
  }
  return { row, values, before, decide, categories, tags: tagsIn(values.tags) }
}

/** As planRow, for a row that is a variant. */
function planVariant(row: Row<ProductRow>, known: Known, statuses: RowsToPlan['product_statuses']): VariableRow {
  const { slug = '' } = row.values
  if (known.explicit.has(slug) && !known.variable.has(slug)) {
    throw conflict(['slug'], `an earlier row gives "${slug}" to another product`, 'slug_taken')
  }
  const planned = planVariableRow(row, known.found, statuses)
  const categories = categoriesOf(row.values, known)
  if (slug !== '') {
    known.explicit.add(slug)
    known.variable.add(slug)
  }
  return { row: row.row, ...planned, categories, tags: tagsIn(row.values.tags) }
}

const categoriesOf = (values: ProductRow, { categories }: Known): CategoryReference[] =>
  pickCategories(
    values,
    (values.categories ?? []).flatMap((slug) => categories.get(slug) ?? []),
  )

function creation(values: ProductRow, statuses: RowsToPlan['product_statuses'], now: Date): Decide {
  const { name, type = 'SIMPLE_PRODUCT' } = values
  if (name === undefined) throw badRequest(['name'], 'is required for a new product')
  const body = { ...values, name, type, stock: values.stock ?? values.opening_stock }
  const plan = planProduct(body, statuses)
  return (slug, references) => newProduct(body, plan, { ...references, slug, options: [] }, now)
}

const update =
  (before: ProductRecord, values: ProductRow, now: Date): Decide =>
  (slug, references) =>
    planUpdate(before, { ...values, slug }, now, references)

const derivedSlug = ({ name = '' }: ProductRow): string => slugify(name, 'product')

/** Returns the function that gives each row its slug. New products without an explicit one get a derived one. */
async function chooseSlugs(
  tx: Transaction,
  { isCheck }: RowsToPlan,
  planned: readonly PlannedRow[],
  { slugOwners, explicit }: Known,
) {
  const givenSlug = ({ before, values }: PlannedRow) => values.slug ?? before?.slug
  if (isCheck) return (row: PlannedRow) => givenSlug(row) ?? ''
  const derived = planned.filter((row) => givenSlug(row) === undefined).map(({ values }) => derivedSlug(values))
  const shared = takenOrRepeatedSlugs(derived, (slug) => slugOwners.has(slug) || explicit.has(slug))
  const families = await lockFamilies(tx, PRODUCT_SLUGS, shared)
  const choose = slugChooser(families, explicit, derived)
  return (row: PlannedRow) => givenSlug(row) ?? choose(derivedSlug(row.values))
}

/**
 * The tags that the rows name, by slug, created where missing; no event is about them (OP-72). A check creates none.
 */
async function findTags(
  tx: Transaction,
  { isCheck }: RowsToPlan,
  rows: readonly Pick<PlannedRow, 'tags'>[],
  now: Date,
): Promise<ReadonlyMap<string, Tag>> {
  const wanted = new Map(rows.flatMap((row) => row.tags.map((tag) => [tag.slug, tag])))
  const { found } = await resolveReferences(tx, { tags: [...wanted.values()] }, now, isCheck)
  return new Map(found.tags.map((tag) => [tag.slug, tag]))
}
