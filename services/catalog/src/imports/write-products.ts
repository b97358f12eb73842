import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { productStateRecord } from '../products/product-records.ts'
import type { ProductRecord, VariantRecord } from '../products/product-view.ts'
import { idsIfChanged } from '../products/write-update.ts'

/** A product before, unless it is new, and after. */
export interface ProductChange {
  readonly current: ProductRecord | undefined
  readonly next: ProductRecord
}

/**
 * Writes what differs between products before and after, in one statement whatever their number, and publishes their state;
 * no event (OP-72). What is locked in no order of its own is written in the order of its unique key, so that imports that
 * write the same queue rather than deadlock. Rows that are there are named by an array of their ids as well: joined alone,
 * PostgreSQL may read all of the workspace's, which it takes for few when it has no statistics of it. Media stay as they are.
 */
export async function writeProducts(tx: Transaction, changes: readonly ProductChange[], now: Date): Promise<void> {
  if (changes.length === 0) return
  const workspace = tx.context.workspaceId
  const created = changes.filter(({ current }) => current === undefined).map(({ next }) => next)
  const changed = changes.filter(({ current }) => current !== undefined).map(({ next }) => next)
  const changedIds = changed.map(({ id }) => id)
  const variants = changes.map(variantsOf)
  const changedVariants = variants.flatMap(({ changed }) => changed)
  await tx`
    with option_set as materialized (
      select * from json_to_recordset(${JSON.stringify(changes.flatMap(optionRows))}::text::json)
        as row (product_id uuid, id uuid, position integer, values text[])
    ), set as materialized ( -- null is a set that stays
      select * from json_to_recordset(${JSON.stringify(changes.flatMap(setRows))}::text::json)
        as row (id uuid, categories uuid[], tags uuid[])
    ), new_product as (
      insert into product (
        workspace_id, id, name, slug, type, status, description, requires_shipping, can_preorder, preorder_stops_at,
        max_cart_quantity, low_stock_threshold, purchase_note, tax_class, created_at, updated_at
      )
      select
        ${workspace}, id, name, slug, type, status, description, "requiresShipping", "canPreorder", "preorderStopsAt",
        "maxCartQuantity", "lowStockThreshold", "purchaseNote", "taxClass", ${now}, ${now}
      from ${productRows(tx, created.toSorted(inOrder(({ slug }) => slug)))}
    ), changed_product as (
      update product set
        name = row.name, slug = row.slug, type = row.type, status = row.status, description = row.description,
        requires_shipping = row."requiresShipping", can_preorder = row."canPreorder",
        preorder_stops_at = row."preorderStopsAt", max_cart_quantity = row."maxCartQuantity",
        low_stock_threshold = row."lowStockThreshold", purchase_note = row."purchaseNote", tax_class = row."taxClass",
        version = row.version, updated_at = row."updatedAt"
      from ${productRows(tx, changed)}
      where product.workspace_id = ${workspace} and product.id = any(${changedIds}::uuid[]) and product.id = row.id
    ), new_variant as (
      insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
      select
        ${workspace}, id, product_id, sku, stock, price, cost, attributes,
        nth + case when is_first then 0 else coalesce((
          select max(position) from variant where workspace_id = ${workspace} and variant.product_id = row.product_id
        ), 0) end
      from ${variantRows(tx, variants.flatMap(({ added }) => added).toSorted(inOrder(({ sku }) => sku)))}
    ), changed_variant as (
      update variant set stock = row.stock, price = row.price, cost = row.cost, attributes = row.attributes
      from ${variantRows(tx, changedVariants)}
      where variant.workspace_id = ${workspace} and variant.id = any(${changedVariants.map(({ id }) => id)}::uuid[])
        and variant.id = row.id
    ), new_value as (
      insert into option_value (workspace_id, option_id, value)
      select distinct ${workspace}::uuid, id, value from option_set, unnest(values) as value
      order by id, value
      on conflict do nothing
    ), new_option as (
      insert into product_option (workspace_id, product_id, option_id, position, chosen_values)
      select ${workspace}, product_id, id, position, values from option_set
      on conflict (workspace_id, product_id, option_id) do update set chosen_values = excluded.chosen_values
    ), gone_category as (
      delete from product_category using set
      where workspace_id = ${workspace} and product_id = any(${changedIds}::uuid[]) and product_id = set.id
        and category_id <> all(set.categories)
    ), new_category as (
      insert into product_category (workspace_id, product_id, category_id, position)
      select ${workspace}, set.id, new.id, ordinal from set, unnest(set.categories) with ordinality as new (id, ordinal)
      on conflict (workspace_id, product_id, category_id) do update set position = excluded.position
    ), gone_tag as (
      delete from product_tag using set
      where workspace_id = ${workspace} and product_id = any(${changedIds}::uuid[]) and product_id = set.id
        and tag_id <> all(set.tags)
    )
    insert into product_tag (workspace_id, product_id, tag_id, position)
    select ${workspace}, set.id, new.id, ordinal from set, unnest(set.tags) with ordinality as new (id, ordinal)
    on conflict (workspace_id, product_id, tag_id) do update set position = excluded.position`
  await publish(
    tx,
    changes.map(({ next }) => productStateRecord(next)),
    now,
  )
}

const productRows = (tx: Transaction, products: readonly ProductRecord[]) => tx`
  json_to_recordset(${JSON.stringify(products.map(columnsOf))}::text::json) as row (
    id uuid, name text, slug text, type text, status text, description text, "requiresShipping" boolean,
    "canPreorder" boolean, "preorderStopsAt" timestamptz, "maxCartQuantity" bigint, "lowStockThreshold" bigint,
    "purchaseNote" text, "taxClass" uuid, version bigint, "updatedAt" timestamptz
  )`

/** What is in tables of their own is written there. */
const columnsOf = ({ categories, tags, options, media, variants, createdAt, ...columns }: ProductRecord) => columns

interface NewVariant extends VariantRecord {
  readonly product_id: string
  /** Its place among those that are new to the product, from 1. */
  readonly nth: number
  readonly is_first: boolean
}

function variantsOf({ current, next }: ProductChange): { added: NewVariant[]; changed: VariantRecord[] } {
  const before = new Map(current?.variants.map((variant) => [variant.id, variant]))
  const added = next.variants.filter(({ id }) => !before.has(id))
  return {
    added: added.map((variant, index) => ({
      ...variant,
      product_id: next.id,
      nth: index + 1,
      is_first: before.size === 0,
    })),
    changed: next.variants.filter(
      (variant) => before.has(variant.id) && !isDeepStrictEqual(before.get(variant.id), variant),
    ),
  }
}

const variantRows = (tx: Transaction, variants: readonly VariantRecord[]) => tx`
  json_to_recordset(${JSON.stringify(variants)}::text::json) as row (
    id uuid, product_id uuid, sku text, stock bigint, price jsonb, cost jsonb, attributes jsonb, nth integer, is_first boolean
  )`

const optionRows = ({ current, next }: ProductChange) =>
  next.options
    .map(({ id, values }, index) => ({ product_id: next.id, id, position: index + 1, values }))
    .filter(({ values }, index) => values.length !== current?.options[index]?.values.length)

/** The categories and tags of products that others have now; null is a set that stays. */
function setRows({ current, next }: ProductChange) {
  const categories = idsIfChanged(current?.categories ?? [], next.categories)
  const tags = idsIfChanged(current?.tags ?? [], next.tags)
  return categories === null && tags === null ? [] : [{ id: next.id, categories, tags }]
}

const inOrder =
  <Item>(keyOf: (item: Item) => string) =>
  (one: Item, other: Item) =>
    keyOf(one) < keyOf(other) ? -1 : 1
