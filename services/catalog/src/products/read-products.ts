import { notFound } from '@backoffice/contracts/errors.ts'
import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { readSized, theseInOrder, type WantedRows } from '@backoffice/postgres/lists/sized-rows.ts'
import type { ProductRecord } from './product-view.ts'

/**
 * Reads products whole, in the order of the ids, with one statement. Ids that the workspace does not have are left out.
 * A product shows a deleted category or tag as it was until a worker has taken it out (decision 017).
 */
export async function readProducts(tx: Transaction, ids: readonly string[]): Promise<ProductRecord[]> {
  const rows = await readWanted(tx, theseInOrder(tx, ids))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** As `readProducts`, for the page of a list. */
export function readWanted(tx: Transaction, wanted: WantedRows): Promise<ProductRecord[]> {
  const source = tx`from product where workspace_id = ${tx.context.workspaceId}`
  return readSized<ProductRecord>(tx, { ...wanted, columns: productColumns(tx), source, bytes: productBytes(tx) })
}

function productColumns(tx: Transaction): SqlPart {
  const workspace = tx.context.workspaceId
  return tx`
    ${tx.unsafe(PRODUCT.sql.selected)},
    array(
      select json_build_object(
        'id', category.id, 'name', category.name, 'slug', coalesce(category.deleted_slug, category.slug),
        'parent', category.parent_id, 'parent_slug', parent.slug
      )
      from product_category
      join category on category.workspace_id = ${workspace} and category.id = product_category.category_id
      left join category parent on parent.workspace_id = ${workspace} and parent.id = category.parent_id
      where product_category.workspace_id = ${workspace} and product_category.product_id = product.id
      order by product_category.position
    ) as categories,
    array(
      select json_build_object('id', tag.id, 'name', tag.name, 'slug', coalesce(tag.deleted_slug, tag.slug))
      from product_tag
      join tag on tag.workspace_id = ${workspace} and tag.id = product_tag.tag_id
      where product_tag.workspace_id = ${workspace} and product_tag.product_id = product.id
      order by product_tag.position
    ) as tags,
    array(
      select json_build_object('id', option.id, 'name', option.name, 'values', product_option.chosen_values)
      from product_option
      join option on option.workspace_id = ${workspace} and option.id = product_option.option_id
      where product_option.workspace_id = ${workspace} and product_option.product_id = product.id
      order by product_option.position
    ) as options,
    array(
      select json_build_object(
        'id', media.id, 'asset', asset.id, 'path', asset.path, 'thumbnailPath', asset.thumbnail_path,
        'type', asset.type, 'position', media.position
      )
      from media
      join asset on asset.workspace_id = ${workspace} and asset.id = media.asset_id
      where media.workspace_id = ${workspace} and media.product_id = product.id
      order by media.position, media.id
    ) as media,
    -- As one JSON text: the driver parses an array of 2,048 letter by letter, and nothing else runs meanwhile.
    coalesce((
      select json_agg(json_build_object(${tx.unsafe(VARIANT.sql.object)}) order by position, id)
      from variant
      where variant.workspace_id = ${workspace} and variant.product_id = product.id
    ), '[]') as variants`
}

/** About the bytes of a product, a variant, and of a reference beside its texts. */
const BYTES = { product: 1000, variant: 150, reference: 400 }

/**
 * About how many bytes the answer of a product has. The first variants and values stand for all: a product may have
 * thousands. What a product may have by the dozen is left out.
 */
function productBytes(tx: Transaction): SqlPart {
  const ofProduct = (table: string) => tx`
    from ${tx(table)} as part where part.workspace_id = ${tx.context.workspaceId} and part.product_id = product.id`
  return tx`
    ${BYTES.product} + octet_length(coalesce(description, '')) + octet_length(coalesce(purchase_note, ''))
    + (select count(*) ${ofProduct('variant')}) * coalesce((
      select avg(${BYTES.variant} + octet_length(sku) + octet_length(price::text) + octet_length(attributes::text))
      from (select sku, price, attributes ${ofProduct('variant')} limit 20) as first
    ), 0)
    + coalesce((select sum(octet_length(chosen_values::text)) ${ofProduct('product_option')}), 0)
    + ${BYTES.reference} * (select count(*) ${ofProduct('media')})`
}

/**
 * Locks products in id order until the transaction ends, so that changes of one product, and the records about them,
 * follow each other. Returns the ids that the workspace has. Read the products in a later statement: the snapshot of
 * this one may be older than a change that it waited for.
 */
export async function lockProducts(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from product
    where workspace_id = ${tx.context.workspaceId} and id ${isOneOf(tx, ids)}
    order by id for no key update`
  return rows.map(({ id }) => id)
}

/**
 * Which variants are locked with their product: all, one by its id, or none. Orders take stock without a lock on the
 * product, so a change that compares, sets or moves a variant's stock locks the variant.
 */
type LockedVariants = 'ALL' | 'NONE' | { readonly id: string }

/** Locks a product until the transaction ends, so that changes follow each other, and reads it. Throws `not_found`. */
export async function lockProduct(tx: Transaction, id: string, variants: LockedVariants): Promise<ProductRecord> {
  const product = await lockAndRead(tx, id, variants)
  if (product === undefined) throw noSuchProduct(id)
  return product
}

/**
 * As `lockProduct`, but undefined when the workspace has no such product: for callers that run it beside other
 * statements, all of which must end before the transaction fails. Each statement has a snapshot that is later than the
 * locks of those before it.
 */
export async function lockAndRead(
  tx: Transaction,
  id: string,
  variants: LockedVariants,
): Promise<ProductRecord | undefined> {
  const lock = tx`
    select id from product where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  const only = typeof variants === 'object' ? variants.id : undefined
  // `execute` sends the locks before the read: without it they would be sent when they are awaited.
  const locked = [lock.execute(), variants === 'NONE' ? undefined : lockVariants(tx, [id], only).execute()]
  const [[product]] = await Promise.all([readProducts(tx, [id]), ...locked])
  return product
}

/**
 * Locks the variants of locked products, or one of them, until the transaction ends, in id order across the products,
 * since orders take stock in this order and without a lock on the product.
 */
export const lockVariants = (tx: Transaction, products: readonly string[], only?: string) => tx`
  select id from variant
  where workspace_id = ${tx.context.workspaceId} and product_id ${isOneOf(tx, products)}
    ${only === undefined ? tx`` : tx`and id = ${only}`}
  order by id for no key update`

export const noSuchProduct = (id: string) => notFound(['id'], `this workspace has no product ${id}`)

/**
 * One of these values. In a join, compare the column of the table with it too: else PostgreSQL may read all of the
 * workspace's rows. The subquery hides the number of values from the planner, so that it keeps one plan and does not
 * plan each run anew.
 */
export const isOneOf = (tx: Transaction, values: readonly string[], type: 'uuid' | 'text' = 'uuid') =>
  tx`= any(array(select unnest(${values as string[]}::${tx.unsafe(type)}[])))`
