import { badRequest, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { VariantRow } from '@backoffice/contracts/imports.ts'
import type { Row } from '@backoffice/importing/row-outcomes.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { resolveOptions } from '../products/references.ts'
import { createReferences } from './create-references.ts'
import { type FoundProduct, type FoundProducts, findProductsOf } from './find-products.ts'
import { type ProductRow, planChanges } from './plan-changes.ts'
import { PRODUCT_CHANGES, type ProductImporter } from './product-changes.ts'
import { attributesOf, inColumns, type VariantChange, withVariant } from './variant-rows.ts'

/** A row with its product. */
type PlannedRow = ProductRow<VariantRow> & VariantChange

/**
 * Rows of the template `product_variants` (OP-54, OP-55): adds variants to existing variable products, and updates the
 * variants that have the SKU, by the rules of POST and PUT …/variants (OP-22).
 */
export const importProductVariants: ProductImporter = {
  async *plan(tx, batch, outcomes, now) {
    const rows = await outcomes.read(VariantRow, 'sku', batch.rows)
    const skus = rows.map(({ values }) => values.sku)
    const names = rows.flatMap(({ values }) => values.product ?? [])
    const found = await findProductsOf(tx, batch, skus, names)
    const planned = rows.flatMap((row) => outcomes.attempt(row, () => planRow(row, found)) ?? [])
    // Products without options get them from their first variant (OP-22).
    const first = planned.filter(({ product }) => product.variants === 0)
    const options = new Set(first.flatMap(({ attributes = {} }) => Object.keys(attributes)))
    const optionIds = await resolveOptions(tx, [...options], now, true)
    const change = (product: ProductRecord, row: PlannedRow, before: ProductRecord) =>
      inColumns(row, 'product', () => withVariant(product, row, before, optionIds))
    for await (const changes of planChanges(tx, planned, outcomes, change, now))
      yield batch.isCheck ? changes : await createReferences(tx, changes, now)
  },

  ...PRODUCT_CHANGES,
}

function planRow({ row, values }: Row<VariantRow>, { bySku, byName }: FoundProducts): PlannedRow {
  const { sku, product: name, stock } = values
  const attributes = attributesOf(values)
  const current = bySku.get(sku)
  if (current !== undefined) {
    refuseNotVariable('sku', current)
    if (name !== undefined && byName.get(name)?.id !== current.id) {
      throw conflict(['sku'], `"${sku}" belongs to a variant of another product of this workspace`, 'sku_taken')
    }
    return { row, values, attributes, product: current, isNew: false }
  }
  if (name === undefined) throw badRequest(['product'], 'is required for a new variant')
  if (stock === undefined) throw badRequest(['stock'], 'is required for a new variant')
  const product = byName.get(name)
  if (product === undefined)
    throw unprocessable(['product'], `this workspace has no product with the id or slug "${name}"`)
  refuseAmbiguous(name, product)
  refuseNotVariable('product', product)
  return { row, values, attributes, product, isNew: true }
}

/** Refuses a slug that the name of another product gives too, since no answer shows which of them has it. */
function refuseAmbiguous(slug: string, { id, namesake }: FoundProduct): void {
  if (namesake === null || slug === id) return
  throw unprocessable(['product'], `"${slug}" may mean the product ${id} or ${namesake}; give the id of one`)
}

function refuseNotVariable(column: string, { type }: FoundProduct): void {
  if (type === 'VARIABLE_PRODUCT') return
  throw unprocessable([column], `is that of a ${type}; import it with the template products`)
}
