import { badRequest, unprocessable } from '@backoffice/contracts/errors.ts'
import { ProductRow } from '@backoffice/contracts/imports.ts'
import type { RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row, RowOutcomes } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { requestImages } from '../images/request-images.ts'
import { pickCategories, sharedReferences, tagsByName, tagsIn } from '../products/chosen-references.ts'
import { resolveReferences } from '../products/references.ts'
import { createReferences } from './create-references.ts'
import { type FoundProducts, findProductsOf } from './find-products.ts'
import { planProducts } from './plan-products.ts'
import { PRODUCT_CHANGES, type ProductImporter } from './product-changes.ts'
import { planVariableProducts, planVariableRow, type VariableRow } from './variable-products.ts'

/**
 * Rows of the template `products` (OP-54, OP-55): creates simple and virtual products, and updates the products that
 * have the SKU, by the rules of POST and PUT /v1/products. Rows of variable products are variants (OP-278). The tags
 * that rows name are created; no event is about them (OP-72). Images are fetched later (OP-281).
 */
export const importProducts: ProductImporter = {
  async *plan(tx, batch, outcomes, now) {
    const rows = await outcomes.read(ProductRow, 'sku', batch.rows)
    const { simple = [], variants = [] } = Object.groupBy(rows, ({ values: { type } }) =>
      type === 'VARIABLE_PRODUCT' ? 'variants' : 'simple',
    )
    const skus = rows.map(({ values }) => values.sku)
    const found = await findProductsOf(tx, batch, skus, slugsOf(variants))
    const variable = await planVariableRows(tx, { ...batch, rows: variants }, found, outcomes, now)
    const tags = await findTags(tx, variable, batch.isCheck, now)
    const otherSlugs = new Set<string>()
    for await (const planned of planVariableProducts(tx, variable, { tags, outcomes }, now)) {
      for (const { before, after } of planned) if (before === undefined) otherSlugs.add(after.slug)
      yield batch.isCheck ? planned : await createReferences(tx, planned, now)
    }
    const sent = {
      ...batch,
      rows: simple,
      found,
      otherSlugs,
      skusOf: ({ sku }: ProductRow) => [{ path: ['sku'], key: sku }],
      create,
      update: withoutOptions,
      forVariants: 'import it with the template product_variants',
    }
    for await (const { changes } of planProducts(tx, sent, outcomes, now)) yield changes
    if (batch.importId === undefined) return
    const applied = outcomes.good(rows)
    await requestImages(
      tx,
      batch.importId,
      applied.map(({ values }) => values),
    )
  },

  ...PRODUCT_CHANGES,
}

const slugsOf = (rows: readonly Row<ProductRow>[]) => rows.flatMap(({ values: { slug } }) => slug ?? [])

function create(row: ProductRow) {
  const { name, type = 'SIMPLE_PRODUCT', opening_stock, stock = opening_stock } = withoutOptions(row)
  if (name === undefined) throw badRequest(['name'], 'is required for a new product')
  return { ...row, name, type, stock }
}

function withoutOptions(row: ProductRow): ProductRow {
  if (row.option1_name === undefined) return row
  throw unprocessable(['option1_name'], 'belongs to a variant: give the row the type VARIABLE_PRODUCT')
}

/** The rows that are variants, with their products and categories. */
async function planVariableRows(
  tx: Transaction,
  { rows, product_statuses }: Pick<RowsToPlan, 'product_statuses'> & { readonly rows: readonly Row<ProductRow>[] },
  found: FoundProducts,
  outcomes: RowOutcomes,
  now: Date,
): Promise<VariableRow[]> {
  const categorySlugs = [...new Set(rows.flatMap(({ values }) => values.categories ?? []))]
  const foundFor = sharedReferences((await resolveReferences(tx, { categorySlugs }, now)).found)
  const plan = ({ row, values }: Row<ProductRow>): VariableRow => ({
    row,
    ...planVariableRow({ row, values }, found, product_statuses),
    categories: pickCategories(values, foundFor(values).categories),
    tags: tagsIn(values.tags),
  })
  return outcomes.attempts(rows, plan)
}

/** The tags of the rows by name, with made-up ids where missing. A check needs those of existing products only. */
async function findTags(tx: Transaction, rows: readonly VariableRow[], isCheck: boolean, now: Date) {
  const compared = isCheck ? rows.filter(({ product }) => product !== undefined) : rows
  const wanted = new Map(compared.flatMap((row) => row.tags.map((tag) => [tag.name, tag])))
  const { found } = await resolveReferences(tx, { tags: [...wanted.values()] }, now, true)
  return tagsByName(found.tags)
}
