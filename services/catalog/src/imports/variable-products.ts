import { badRequest, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import type { ProductRow } from '@backoffice/contracts/imports.ts'
import type { CategoryReference, ProductStatus, Tag } from '@backoffice/contracts/product.ts'
import type { Row, RowOutcomes } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { pickTags } from '../products/chosen-references.ts'
import { newProduct, refuseUnsupportedStatus } from '../products/plan-product.ts'
import { withMembers } from '../products/plan-update.ts'
import type { ProductChange } from '../products/product-difference.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { recordLimit } from '../products/record-size.ts'
import { type NamedReference, resolveOptions } from '../products/references.ts'
import type { FoundProduct, FoundProducts } from './find-products.ts'
import { planChanges } from './plan-changes.ts'
import { attributesOf, inColumns, type VariantChange, withVariant } from './variant-rows.ts'

/** A row of the template `products` that is a variant of a VARIABLE_PRODUCT (OP-278). */
export interface VariableRow extends Row<ProductRow>, VariantChange {
  readonly values: ProductRow
  /** Its product; undefined for a new one. */
  readonly product: FoundProduct | undefined
  readonly isNew: boolean
  readonly categories: CategoryReference[]
  readonly tags: NamedReference[]
}

/** Finds the product of a row by its SKU or its slug. Throws the row's refusal. */
export function planVariableRow(
  { values }: Row<ProductRow>,
  { bySku, byName }: FoundProducts,
  statuses: readonly ProductStatus[],
): Pick<VariableRow, 'values' | 'attributes' | 'product' | 'isNew'> {
  const { sku, slug = '', name, stock = values.opening_stock, status } = values
  const attributes = attributesOf(values)
  const [current, named] = [bySku.get(sku), byName.get(slug)]
  const called = named?.slug === slug ? named : undefined
  refuseUnsupportedStatus(status, statuses, (current ?? called)?.status)
  if (current !== undefined) {
    refuseNotVariable('sku', current)
    if (slug !== '' && called?.id !== current.id) {
      throw conflict(['sku'], `"${sku}" belongs to a variant of another product of this workspace`, 'sku_taken')
    }
    return { values, attributes, product: current, isNew: false }
  }
  if (slug === '') throw badRequest(['slug'], 'is required for a new variant: rows with the same slug are one product')
  if (stock === undefined) throw badRequest(['stock'], 'is required for a new variant')
  if (called !== undefined) refuseNotVariable('slug', called)
  else if (name === undefined) throw badRequest(['name'], 'is required for a new product')
  else refuseUnsupportedStatus(status ?? 'ACTIVE', statuses)
  return { values: { ...values, stock }, attributes, product: called, isNew: true }
}

function refuseNotVariable(column: string, { type }: FoundProduct): void {
  if (type === 'VARIABLE_PRODUCT') return
  throw unprocessable([column], `is that of a ${type}; change its type with PUT /v1/products/{id}, or delete it`)
}

/**
 * The changes of the products of these rows, which add variants and set what the rows say of the products. Options that
 * the workspace lacks have made-up ids.
 */
export async function* planVariableProducts(
  tx: Transaction,
  rows: readonly VariableRow[],
  { tags, outcomes }: { tags: ReadonlyMap<string, Tag>; outcomes: RowOutcomes },
  now: Date,
): AsyncGenerator<ProductChange[]> {
  // Products without options get them from their first variant (OP-22).
  const first = rows.filter(({ product }) => product === undefined || product.variants === 0)
  const options = new Set(first.flatMap(({ attributes = {} }) => Object.keys(attributes)))
  const optionIds = await resolveOptions(tx, [...options], now, true)
  const change = (product: ProductRecord, row: VariableRow, before: ProductRecord) =>
    inColumns(row, 'slug', () => {
      const { categories } = row
      const references = { categories, tags: pickTags(row.tags, tags), media: product.media }
      return withVariant(withMembers(product, row.values, references), row, before, optionIds)
    })
  const there = rows.flatMap((row) => (row.product === undefined ? [] : { ...row, product: row.product }))
  yield* planChanges(tx, there, outcomes, change, now)

  const created = rows.filter(({ product }) => product === undefined)
  const size = outcomes.throttle.rowsAtOnce(created.length)
  let changes: ProductChange[] = []
  let variants = 0
  for (const ofProduct of Map.groupBy(created, ({ values }) => values.slug).values()) {
    const fitting = recordLimit(['sku'])
    let after: ProductRecord | undefined
    for (const row of ofProduct) {
      await outcomes.throttle.giveWay()
      const before = after ?? withoutVariants(row, now)
      const changed = outcomes.attempt(row, () => fitting(change(before, row, before)))
      if (changed === undefined) continue
      outcomes.planned(row, { isNew: true, isChanged: true })
      after = changed
    }
    if (after === undefined) continue
    if (changes.length > 0 && variants + after.variants.length > size) {
      yield changes
      changes = []
      variants = 0
    }
    changes.push({ before: undefined, after })
    variants += after.variants.length
  }
  if (changes.length > 0) yield changes
}

/** The new product of a row, which its rows give options and variants. */
const withoutVariants = ({ values: { name = '', slug = '' } }: VariableRow, now: Date): ProductRecord =>
  newProduct(
    { name, type: 'VARIABLE_PRODUCT' },
    { options: [], variants: [] },
    { slug, options: [], categories: [], tags: [], media: [] },
    now,
  )
