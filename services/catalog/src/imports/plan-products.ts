import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { rowGroups } from '@backoffice/importing/import-batches.ts'
import type { RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row, RowKey, RowOutcomes } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { lockFamilies, slugChooser, takenOrRepeatedSlugs } from '@backoffice/postgres/slug-families.ts'
import { pickReferences, referencesIn, sharedReferences, withMissing } from '../products/chosen-references.ts'
import { newProduct, planProduct, refuseUnsupportedStatus } from '../products/plan-product.ts'
import { isUnchanged, planUpdate } from '../products/plan-update.ts'
import type { ProductChange } from '../products/product-difference.ts'
import type { CreateProductBody, UpdateProductBody } from '../products/product-input.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { readProducts } from '../products/read-products.ts'
import { hasManyParts, recordLimit } from '../products/record-size.ts'
import {
  type CreatedReferences,
  type FoundReferences,
  type NamedReference,
  PRODUCT_SLUGS,
  resolveReferences,
  type WantedReferences,
} from '../products/references.ts'
import { ofAnotherProduct } from '../products/refuse-taken.ts'
import { type FoundProducts, findSlugs } from './find-products.ts'

type Values = Readonly<Record<string, unknown>>

/** Rows that create and update products by their member `sku`, from an import or a request. */
export interface ProductRows<RowValues extends Values> extends Pick<RowsToPlan, 'product_statuses' | 'isCheck'> {
  readonly rows: readonly Row<RowValues>[]
  /** The products that have the SKUs, locked unless it is a check. */
  readonly found: Pick<FoundProducts, 'bySku'>
  /** Slugs of the new products of other rows, which are planned first: none of these rows gets one. */
  readonly otherSlugs?: ReadonlySet<string>
  /** All SKUs of a row. No two rows share one. */
  readonly skusOf: (values: RowValues) => readonly RowKey[]
  /** The bodies of POST and PUT /v1/products that a row stands for. They throw its refusal. */
  readonly create: (values: RowValues) => CreateProductBody
  readonly update: (values: RowValues) => UpdateProductBody
  /** How to change a variant of a variable product instead. */
  readonly forVariants: string
}

/** The changes of some rows, and the references that were created for them. */
export interface PlannedProducts {
  readonly changes: ProductChange[]
  readonly newReferences: CreatedReferences
}

/** A row with the body that its values make, and the product that has its SKU. */
type ProductRow = Row<Values> &
  (
    | { readonly before: ProductRecord; readonly body: UpdateProductBody }
    /** `taken` are the SKUs of a new product that others have. */
    | { readonly before: undefined; readonly body: CreateProductBody; readonly taken: readonly RowKey[] }
  )

/** A row that fits the products, slugs and references of the workspace. */
type PlannedRow = ProductRow & {
  /** The product, once the slugs and references that rows share are resolved. */
  readonly decide: (slug: string, found: FoundReferences) => ProductRecord
}

/** So many variants weigh as much as a row. */
const VARIANTS_OF_A_ROW = 10

/** Plans rows by the rules of POST and PUT /v1/products, and yields the changes of some at a time. */
export async function* planProducts<RowValues extends Values>(
  tx: Transaction,
  sent: ProductRows<RowValues>,
  outcomes: RowOutcomes,
  now: Date,
): AsyncGenerator<PlannedProducts> {
  const { rows, skusOf, isCheck, otherSlugs = [] } = sent
  /** The slugs that rows give, composed as the bodies have them: no derived one equals them. */
  const given = new Set([
    ...otherSlugs,
    ...rows.flatMap(({ values: { slug } }) => (typeof slug === 'string' ? slug.normalize('NFC') : [])),
  ])
  /** Those of them that a row has got. */
  const explicit = new Set<string>(otherSlugs)
  const keyOf = ({ values }: Row<RowValues>) => skusOf(values)[0]?.key ?? ''
  const weightOf = ({ values }: Row<RowValues>) => Math.max(1, skusOf(values).length / VARIANTS_OF_A_ROW)
  for (const group of rowGroups(rows, outcomes.throttle, keyOf, weightOf)) {
    const named = await withBodies(tx, sent, group, outcomes)
    const known = await findKnown(tx, named, isCheck, now)
    const planned = await outcomes.attempts(named, (row) => planRow(row, known, sent, explicit, now))
    // Before the slugs of products, as a single create: their locks are taken in this order.
    const { found, newReferences } = await resolveReferences(tx, creatableIn(planned, isCheck), now, isCheck)
    const slugOf = await chooseSlugs(tx, isCheck, planned, known.slugOwners, given)
    const foundFor = sharedReferences({
      ...found,
      categories: [...found.categories, ...known.found.categories],
      assets: known.found.assets,
    })
    const changes = await outcomes.attempts(planned, (row): ProductChange | undefined => {
      const { before, body, decide } = row
      const slug = slugOf(row)
      const isNew = before === undefined
      if (isNew && isCheck) {
        // A check does not make a new product: there is nothing to compare, and its random ids take long.
        outcomes.planned(row, { isNew, isChanged: true })
        return undefined
      }
      const after = recordLimit()(decide(slug, foundFor(body)), before)
      const isChanged = isNew || !isUnchanged(before, after)
      outcomes.planned(row, { id: after.id, isNew, isChanged })
      return isChanged ? { before, after } : undefined
    })
    await outcomes.throttle.giveWay()
    yield { changes, newReferences }
  }
}

/** The rows whose values make a body, with their products. */
async function withBodies<RowValues extends Values>(
  tx: Transaction,
  { skusOf, create, update, forVariants, found: { bySku } }: ProductRows<RowValues>,
  rows: readonly Row<RowValues>[],
  outcomes: RowOutcomes,
): Promise<ProductRow[]> {
  const productOf = ({ sku }: Values) => (typeof sku === 'string' ? bySku.get(sku) : undefined)
  const there = rows.flatMap(({ values }) => productOf(values) ?? []).filter(({ type }) => type !== 'VARIABLE_PRODUCT')
  const products = there.length === 0 ? [] : await readProducts(tx, [...new Set(there.map(({ id }) => id))])
  const byId = new Map(products.map((product) => [product.id, product]))
  const withBody = ({ row, values }: Row<RowValues>): ProductRow => {
    const product = productOf(values)
    if (product?.type === 'VARIABLE_PRODUCT')
      throw unprocessable(['sku'], `belongs to a variant of a VARIABLE_PRODUCT; ${forVariants}`)
    const before = byId.get(product?.id ?? '')
    if (before !== undefined) return { row, values, before, body: update(values) }
    // A check may find a product that is deleted before it is read.
    const taken = product === undefined ? skusOf(values).filter(({ key }) => bySku.has(key)) : []
    return { row, values, before, body: create(values), taken }
  }
  return outcomes.attempts(rows, withBody)
}

/** The slugs that the rows would get and products have, and the references that no row creates. */
async function findKnown(tx: Transaction, rows: readonly ProductRow[], isCheck: boolean, now: Date) {
  // A derived slug is never refused, so a check looks at explicit ones only.
  const slugs = rows.flatMap((row) => row.body.slug ?? (isCheck || row.before ? [] : derivedSlug(row)))
  const wanted = rows.map(({ body }) => referencesIn(body))
  const all = (member: 'categoryIds' | 'categorySlugs' | 'assetIds') => [
    ...new Set(wanted.flatMap((references) => references[member])),
  ]
  const [slugOwners, { found }] = await Promise.all([
    findSlugs(tx, slugs),
    resolveReferences(
      tx,
      { categoryIds: all('categoryIds'), categorySlugs: all('categorySlugs'), assetIds: all('assetIds') },
      now,
    ),
  ])
  return { slugOwners, found, foundFor: sharedReferences(found) }
}

/** Throws the row's refusal. Adds the row's slug to the explicit ones. */
function planRow(
  row: ProductRow,
  { slugOwners, foundFor }: Awaited<ReturnType<typeof findKnown>>,
  { product_statuses: statuses }: Pick<RowsToPlan, 'product_statuses'>,
  explicit: Set<string>,
  now: Date,
): PlannedRow {
  const { before, body } = row
  refuseUnsupportedStatus(body.status, statuses, before?.status)
  const decide = row.before === undefined ? creation(row.body, statuses, now) : update(row.before, row.body, now)
  // Its refusals depend on no slug and on no reference that a row creates, but for the size of its record.
  const found = foundFor(body)
  if (hasManyParts(decide(before?.slug ?? '', found)))
    recordLimit()(decide(before?.slug ?? '', withMissing(body, found)), before)
  if (row.before === undefined && row.taken[0]) throw ofAnotherProduct(row.taken[0].path, row.taken[0].key)
  const { slug } = body
  if (slug) {
    if (explicit.has(slug)) throw conflict(['slug'], `an earlier row gives "${slug}" to another product`, 'slug_taken')
    const owner = slugOwners.get(slug)
    if (owner !== undefined && owner !== before?.id) throw ofAnotherProduct(['slug'], slug)
    explicit.add(slug)
  }
  return { ...row, decide }
}

function creation(body: CreateProductBody, statuses: RowsToPlan['product_statuses'], now: Date): PlannedRow['decide'] {
  const plan = planProduct(body, statuses)
  return (slug, found) =>
    newProduct(body, plan, { ...pickReferences(body, found, []), slug, options: found.options }, now)
}

const update =
  (before: ProductRecord, body: UpdateProductBody, now: Date): PlannedRow['decide'] =>
  (slug, found) =>
    planUpdate(before, { ...body, slug }, now, pickReferences(body, found, before.media))

const derivedSlug = ({ body: { name = '' } }: ProductRow): string => slugify(name, 'product')

/** Returns the function that gives each row its slug. New products without an explicit one get a derived one. */
async function chooseSlugs(
  tx: Transaction,
  isCheck: boolean,
  planned: readonly PlannedRow[],
  slugOwners: ReadonlyMap<string, string>,
  given: ReadonlySet<string>,
) {
  const givenSlug = ({ before, body }: PlannedRow) => body.slug ?? before?.slug
  if (isCheck) return (row: PlannedRow) => givenSlug(row) ?? ''
  const derived = planned.filter((row) => givenSlug(row) === undefined).map(derivedSlug)
  const shared = takenOrRepeatedSlugs(derived, (slug) => slugOwners.has(slug) || given.has(slug))
  const families = await lockFamilies(tx, PRODUCT_SLUGS, shared)
  const choose = slugChooser(families, given, derived)
  return (row: PlannedRow) => givenSlug(row) ?? choose(derivedSlug(row))
}

/**
 * The references of the rows that are created where missing. A check creates none, and needs only those of existing
 * products, to compare them.
 */
function creatableIn(planned: readonly PlannedRow[], isCheck: boolean): WantedReferences {
  const rows = isCheck ? planned.filter(({ before }) => before !== undefined) : planned
  const wanted = rows.map(({ body }) => referencesIn(body))
  return {
    options: [...new Set(wanted.flatMap(({ options }) => options))],
    categoryNames: uniqueNames(wanted.flatMap(({ categoryNames }) => categoryNames)),
    tags: uniqueNames(wanted.flatMap(({ tags }) => tags)),
  }
}

const uniqueNames = (references: readonly NamedReference[]): NamedReference[] => [
  ...new Map(references.map((reference) => [reference.name, reference])).values(),
]
