import { notFound } from '@backoffice/contracts/errors.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { type CategoryReference, PRODUCT, type Tag, VARIANT } from '@backoffice/contracts/product.ts'
import type { Send } from '@backoffice/postgres/begin.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { LargeRead, type SizedRow } from '@backoffice/postgres/lists/sized-rows.ts'
import type { MediaRecord, ProductRecord, VariantRecord } from './product-view.ts'

/**
 * Reads products whole, in the order of the ids, with one statement. Ids that the workspace does not have are left out.
 * A product shows a deleted category or tag as it was until a worker has taken it out (decision 017).
 */
export const readProducts = (tx: Transaction, ids: readonly string[]): Promise<ProductRecord[]> =>
  readWanted(tx, tx`select unnest(${ids as string[]}::uuid[])`)

/** As `readProducts`, for one: the statement is planned and run in less time. `send` may be `tx.last`. */
export async function readProduct(tx: Transaction, id: string, send: Send = tx): Promise<ProductRecord | undefined> {
  const { mostBytes = Number.MAX_SAFE_INTEGER } = tx.context
  const [{ parts, bytes }] = await send<[{ parts: Parts | null; bytes: number }]>`
    select case when bytes <= ${mostBytes}::bigint then parts end as parts, bytes
    from (${partsOf(tx, (column) => tx`${column} = ${id}`)}) as read`
  if (parts === null) throw new LargeRead([{ id, bytes }])
  return productsOf(parts)(id)[0]
}

/**
 * As `readProducts`, for the ids of a query, in their order. Throws a LargeRead instead of reading more bytes than the
 * transaction may read at once.
 */
export async function readWanted(tx: Transaction, wanted: SqlPart): Promise<ProductRecord[]> {
  const { mostBytes = Number.MAX_SAFE_INTEGER } = tx.context
  const isWanted = (column: SqlPart) => tx`${column} = any((select ids from wanted)::uuid[])`
  const [{ ids, parts, sizes }] = await tx<[{ ids: string[]; parts: Parts | null; sizes: SizedRow[] | null }]>`
    with wanted as materialized (select array(${wanted}) as ids)
    select ids, case when bytes <= ${mostBytes}::bigint then parts end as parts,
      case when bytes > ${mostBytes}::bigint then (${sizesOf(tx, isWanted)}) end as sizes
    from wanted, (${partsOf(tx, isWanted, Math.ceil(mostBytes / VARIANT_BYTES))}) as read`
  if (parts === null) {
    const byId = new Map(sizes?.map((size) => [size.id, size]))
    throw new LargeRead(ids.flatMap((id) => byId.get(id) ?? []))
  }
  return ids.flatMap(productsOf(parts))
}

/** What wanted products are made of. Times are texts. */
interface Parts {
  readonly products: readonly (Omit<RecordOf<typeof PRODUCT>, keyof Times> & Times)[] | null
  readonly variants: readonly OfProduct<VariantRecord>[] | null
  readonly categories: readonly OfProduct<CategoryReference>[] | null
  readonly tags: readonly OfProduct<Tag>[] | null
  readonly options: readonly OfProduct<ProductRecord['options'][number]>[] | null
  readonly media: readonly OfProduct<MediaRecord>[] | null
}
type Times = { readonly [Name in 'createdAt' | 'updatedAt']: string } & { readonly preorderStopsAt: string | null }
type OfProduct<Item> = Item & { readonly of: string }

/**
 * A query for the `parts` of products as one JSON text, and its `bytes`. It reads each table once, and at most so many
 * variants: they have too many bytes then. The driver would read columns and arrays letter by letter.
 */
function partsOf(tx: Transaction, isWanted: (column: SqlPart) => SqlPart, mostVariants?: number): SqlPart {
  const workspace = tx.context.workspaceId
  const all = (rows: SqlPart) => tx`(select json_agg(item) from (${rows}) as item)`
  const wanted = (table: string, joins = tx``) => tx`
    from ${tx(table)} as part ${joins} where part.workspace_id = ${workspace} and ${isWanted(tx`part.product_id`)}`
  const join = (table: string, id: string) => tx`
    join ${tx(table)} on ${tx(table)}.workspace_id = ${workspace} and ${tx(table)}.id = ${tx(id)}`
  const categories = tx`
    ${join('category', 'category_id')}
    left join category as parent on parent.workspace_id = ${workspace} and parent.id = category.parent_id`
  return tx`
    select parts, pg_column_size(parts) as bytes from (
      select row_to_json(part) as parts from (
        select
          ${all(tx`
            select ${tx.unsafe(PRODUCT.sql.selected)} from product
            where workspace_id = ${workspace} and ${isWanted(tx`id`)}`)} as products,
          ${all(tx`
            select product_id as of, ${tx.unsafe(VARIANT.sql.selected)} ${wanted('variant')}
            order by position, id ${mostVariants === undefined ? tx`` : tx`limit ${mostVariants}`}`)} as variants,
          ${all(tx`
            select product_id as of, category.id, category.name, coalesce(category.deleted_slug, category.slug) as slug,
              category.parent_id as parent, parent.slug as parent_slug
            ${wanted('product_category', categories)} order by part.position`)} as categories,
          ${all(tx`
            select product_id as of, tag.id, tag.name, coalesce(tag.deleted_slug, tag.slug) as slug
            ${wanted('product_tag', join('tag', 'tag_id'))} order by part.position`)} as tags,
          ${all(tx`
            select product_id as of, option.id, option.name, chosen_values as values
            ${wanted('product_option', join('option', 'option_id'))} order by part.position`)} as options,
          ${all(tx`
            select product_id as of, part.id, asset.id as asset, path, thumbnail_path as "thumbnailPath", type,
              part.position
            ${wanted('media', join('asset', 'asset_id'))} order by part.position, part.id`)} as media
      ) as part
      offset 0
    ) as read`
}

/** Makes the products of parts: a list of the one with this id, or of none. */
function productsOf(parts: Parts): (id: string) => ProductRecord[] {
  const products = new Map(parts.products?.map((product) => [product.id, product]))
  const variants = byProduct(parts.variants)
  const categories = byProduct(parts.categories)
  const tags = byProduct(parts.tags)
  const options = byProduct(parts.options)
  const media = byProduct(parts.media)
  return (id) => {
    const product = products.get(id)
    if (product === undefined) return []
    const { preorderStopsAt, createdAt, updatedAt } = product
    return [
      {
        ...product,
        preorderStopsAt: preorderStopsAt === null ? null : new Date(preorderStopsAt),
        createdAt: new Date(createdAt),
        updatedAt: new Date(updatedAt),
        variants: variants(id),
        categories: categories(id),
        tags: tags(id),
        options: options(id),
        media: media(id),
      },
    ]
  }
}

/** The items of a product, by its id. */
function byProduct<Item>(all: readonly OfProduct<Item>[] | null): (product: string) => Item[] {
  const items = new Map<string, Item[]>()
  for (const { of, ...item } of all ?? []) {
    const others = items.get(of)
    if (others === undefined) items.set(of, [item as Item])
    else others.push(item as Item)
  }
  return (product) => items.get(product) ?? []
}

/** About the bytes of a product, a variant, and of a reference beside its texts; a variant has at least these. */
const [PRODUCT_BYTES, VARIANT_BYTES, REFERENCE_BYTES] = [1000, 150, 400]

/**
 * A query for about how many bytes the answers of wanted products have, as one JSON text. The first variants and values
 * stand for all: a product may have thousands. What a product may have by the dozen is left out.
 */
function sizesOf(tx: Transaction, isWanted: (column: SqlPart) => SqlPart): SqlPart {
  const workspace = tx.context.workspaceId
  const ofProduct = (table: string) => tx`
    from ${tx(table)} as part where part.workspace_id = ${workspace} and part.product_id = product.id`
  return tx`
    select json_agg(json_build_object('id', id, 'bytes',
      ${PRODUCT_BYTES} + octet_length(coalesce(description, '')) + octet_length(coalesce(purchase_note, ''))
      + (select count(*) ${ofProduct('variant')}) * coalesce((
        select avg(${VARIANT_BYTES} + octet_length(sku) + octet_length(price::text) + octet_length(attributes::text))
        from (select sku, price, attributes ${ofProduct('variant')} limit 20) as first
      ), 0)
      + coalesce((select sum(octet_length(chosen_values::text)) ${ofProduct('product_option')}), 0)
      + ${REFERENCE_BYTES} * (select count(*) ${ofProduct('media')})
    ))
    from product where workspace_id = ${workspace} and ${isWanted(tx`id`)}`
}

/** The number of variants of each of these products that has some: what they cost to read and write goes by it. */
export async function countVariants(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await tx<{ id: string; variants: number }[]>`
    select product_id as id, count(*) as variants from variant
    where workspace_id = ${tx.context.workspaceId} and product_id = any(${ids as string[]}::uuid[])
    group by product_id`
  return new Map(rows.map(({ id, variants }) => [id, variants]))
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
  const [product] = await Promise.all([readProduct(tx, id), ...locked])
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
