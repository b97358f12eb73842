import { conflict, type MemberPath } from '@backoffice/contracts/errors.ts'
import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import { commaSeparated, type SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { type Difference, differenceOf, type Link, type ProductChange } from './product-difference.ts'
import { eventAndState, productStateRecord, referencesCreated } from './product-records.ts'
import type { ProductRecord } from './product-view.ts'
import { isOneOf } from './read-products.ts'
import { refuseTooLarge } from './record-size.ts'
import type { CreatedReferences } from './references.ts'

interface Writing {
  /** Publishes events of the products and of references made with them. Without it only the state (OP-72). */
  readonly events?: { readonly newReferences?: CreatedReferences }
  /**
   * The refusals of a new SKU or slug that is taken. Without a refusal, or when it is taken at this very moment, the
   * statement violates the unique constraint, and the transaction runs again (decision 003).
   */
  readonly taken?: Taken
  /** What the stock ledger says of movements (decision 016); else that stock was created, set or deleted. */
  readonly stockReason?: 'imported' | 'undone'
  readonly now: Date
}

interface Taken {
  readonly sku?: (sku: string) => Error
  readonly slug?: (slug: string) => Error
}

/** The refusal of a slug or SKU that another product has (OP-14, OP-15). */
export const ofAnotherProduct = (path: MemberPath, value: string) =>
  conflict(
    path,
    `"${value}" belongs to another product of this workspace`,
    path.at(-1) === 'slug' ? 'slug_taken' : 'sku_taken',
  )

/**
 * Writes the difference between products before and after, and publishes their new state. One statement whatever their
 * number, and one more where a product's variants are replaced: the old ones go first, since the new ones may have
 * their SKUs. The caller has locked the products, and the variants whose stock it sets. Throws what `taken` says.
 */
export async function writeProducts(
  tx: Transaction,
  changes: readonly ProductChange[],
  { events, taken = {}, stockReason, now }: Writing,
): Promise<void> {
  if (changes.length === 0) return
  const records = events
    ? [
        ...(events.newReferences ? referencesCreated(events.newReferences) : []),
        ...changes.flatMap(({ before, after }) => eventAndState(before ? 'product.updated' : 'product.created', after)),
      ]
    : changes.map(({ after }) => productStateRecord(after))
  if (events) refuseTooLarge(mostVariantsWithoutRemoval(changes), records)
  if (stockReason) await tx`select set_config('app.stock_reason', ${stockReason}, true)`
  const difference = differenceOf(changes)
  if (difference.replacedVariants.length > 0)
    await deletedVariants({ tx, unlessTaken: tx`true` }, difference.replacedVariants)
  await write(tx, difference, taken)
  await publish(tx, records, now)
}

/** The most variants of a product that loses none. One that loses some is not measured: it may be too large already. */
function mostVariantsWithoutRemoval(changes: readonly ProductChange[]): number {
  const growing = changes.filter(({ before, after }) => after.variants.length >= (before?.variants.length ?? 0))
  return Math.max(0, ...growing.map(({ after }) => after.variants.length))
}

/**
 * One statement of the parts that have rows to write: an empty part costs time, and the triggers of the ledger run for
 * it. New rows are in the order of their unique keys, so that transactions with the same keys queue rather than
 * deadlock.
 */
async function write(tx: Transaction, difference: Difference, taken: Taken): Promise<void> {
  const { created, changed, newVariants, changedVariants, removedVariants, options, categories, tags, media } =
    difference
  const skus = taken.sku ? difference.claimedSkus : []
  const slugs = taken.slug ? difference.claimedSlugs : []
  const isGuarded = skus.length + slugs.length > 0
  const guarded = { tx, unlessTaken: isGuarded ? tx`not exists (select from taken)` : tx`true` }
  const parts = [
    isGuarded && takenRows(tx, skus, slugs),
    options.set.length > 0 && setOptions(guarded, options.set),
    options.removed.length > 0 && removedLinks(guarded, 'option', options.removed),
    created.length > 0 && newProducts(guarded, created),
    changed.length > 0 && changedProducts(guarded, changed, difference.assignments),
    newVariants.length > 0 && insertedVariants(guarded, newVariants),
    changedVariants.length > 0 && updatedVariants(guarded, changedVariants),
    removedVariants.length > 0 && tx`removed_variant as (${deletedVariants(guarded, removedVariants)})`,
    categories.set.length > 0 && setLinks(guarded, 'category', categories.set),
    categories.removed.length > 0 && removedLinks(guarded, 'category', categories.removed),
    tags.set.length > 0 && setLinks(guarded, 'tag', tags.set),
    tags.removed.length > 0 && removedLinks(guarded, 'tag', tags.removed),
    media.set.length > 0 && setMedia(guarded, media.set),
    media.removed.length > 0 && removedMedia(guarded, media.removed),
  ].filter((part) => part !== false)
  const rows = await tx<{ member: 'sku' | 'slug'; value: string }[]>`
    with ${commaSeparated(tx, parts)} ${isGuarded ? tx`select member, value from taken` : tx`select where false`}`
  if (rows.length > 0) throw clash(rows, difference, taken)
}

/** The refusal of the first SKU that is taken, or of the slug. */
function clash(rows: readonly { member: string; value: string }[], { claimedSkus }: Difference, taken: Taken) {
  const takenSkus = new Set(rows.filter(({ member }) => member === 'sku').map(({ value }) => value))
  const sku = claimedSkus.find((one) => takenSkus.has(one))
  return sku === undefined ? taken.slug?.(rows[0]?.value ?? '') : taken.sku?.(sku)
}

const takenRows = (tx: Transaction, skus: readonly string[], slugs: readonly string[]) => tx`
  taken as materialized (
    select 'sku' as member, sku as value from variant
    where workspace_id = ${tx.context.workspaceId} and sku ${isOneOf(tx, skus, 'text')}
    union all
    select 'slug', slug from product
    where workspace_id = ${tx.context.workspaceId} and slug ${isOneOf(tx, slugs, 'text')}
  )`

/** A transaction, and the condition of its parts that write: no SKU and no slug is taken. */
interface Guarded {
  readonly tx: Transaction
  readonly unlessTaken: SqlPart
}

const newProducts = ({ tx, unlessTaken }: Guarded, products: readonly ProductRecord[]) => tx`
  new_product as (
    insert into product (workspace_id, ${tx.unsafe(PRODUCT.sql.columns)})
    select ${tx.context.workspaceId}, ${tx.unsafe(PRODUCT.sql.members)}
    from json_to_recordset(${JSON.stringify(products.map(PRODUCT.row))}::text::json) as row (${tx.unsafe(PRODUCT.sql.row)})
    where ${unlessTaken}
  )`

const changedProducts = ({ tx, unlessTaken }: Guarded, products: readonly ProductRecord[], assignments: string) => tx`
  changed_product as (
    update product set ${tx.unsafe(assignments)}
    from json_to_recordset(${JSON.stringify(products.map(PRODUCT.row))}::text::json) as row (${tx.unsafe(PRODUCT.sql.row)})
    where product.workspace_id = ${tx.context.workspaceId} and product.id ${isOneOf(tx, idsOf(products))}
      and product.id = row.id and ${unlessTaken}
  )`

/** New variants come after the last one that the product has. */
const insertedVariants = ({ tx, unlessTaken }: Guarded, variants: Difference['newVariants']) => tx`
  new_variant as (
    insert into variant (workspace_id, product_id, ${tx.unsafe(VARIANT.sql.columns)}, position)
    select
      ${tx.context.workspaceId}, product, ${tx.unsafe(VARIANT.sql.members)},
      nth + case when "isFirst" then 0 else coalesce((
        select max(position) from variant
        where workspace_id = ${tx.context.workspaceId} and variant.product_id = row.product
      ), 0) end
    from json_to_recordset(${JSON.stringify(variants)}::text::json) as row (
      product uuid, nth integer, "isFirst" boolean, ${tx.unsafe(VARIANT.sql.row)}
    )
    where ${unlessTaken}
  )`

/** Orders take stock without a lock on the product, so a change that keeps the stock does not write it. */
const VARIANT_ASSIGNMENTS = VARIANT.sql.assignments(VARIANT.names.filter((name) => name !== 'id' && name !== 'stock'))

const updatedVariants = ({ tx, unlessTaken }: Guarded, variants: Difference['changedVariants']) => tx`
  changed_variant as (
    update variant set stock = coalesce(row.stock, variant.stock), ${tx.unsafe(VARIANT_ASSIGNMENTS)}
    from json_to_recordset(${JSON.stringify(variants)}::text::json) as row (${tx.unsafe(VARIANT.sql.row)})
    where variant.workspace_id = ${tx.context.workspaceId} and variant.id ${isOneOf(tx, idsOf(variants))}
      and variant.id = row.id and ${unlessTaken}
  )`

const deletedVariants = ({ tx, unlessTaken }: Guarded, ids: readonly string[]) => tx`
  delete from variant
  where workspace_id = ${tx.context.workspaceId} and id ${isOneOf(tx, ids)} and ${unlessTaken}`

/** Gives products options with their values, and the workspace's options the values they lack (OP-22, OP-24). */
const setOptions = ({ tx, unlessTaken }: Guarded, options: Difference['options']['set']) => tx`
  option_set as materialized (
    select * from json_to_recordset(${JSON.stringify(options)}::text::json)
      as row (product uuid, id uuid, position integer, values text[], added text[])
    where ${unlessTaken}
  ), new_value as (
    insert into option_value (workspace_id, option_id, value)
    select distinct ${tx.context.workspaceId}::uuid, id, value from option_set, unnest(added) as value
    order by id, value
    on conflict do nothing
  ), set_option as (
    insert into product_option (workspace_id, product_id, option_id, position, chosen_values)
    select ${tx.context.workspaceId}, product, id, position, values from option_set
    on conflict (workspace_id, product_id, option_id) do update set chosen_values = excluded.chosen_values
  )`

const setLinks = ({ tx, unlessTaken }: Guarded, kind: 'category' | 'tag', links: Difference['tags']['set']) => tx`
  ${tx(`set_${kind}`)} as (
    insert into ${tx(`product_${kind}`)} (workspace_id, product_id, ${tx(`${kind}_id`)}, position)
    select ${tx.context.workspaceId}, product, id, position
    from json_to_recordset(${JSON.stringify(links)}::text::json) as link (product uuid, id uuid, position integer)
    where ${unlessTaken}
    on conflict (workspace_id, product_id, ${tx(`${kind}_id`)}) do update set position = excluded.position
  )`

const removedLinks = ({ tx, unlessTaken }: Guarded, kind: 'option' | 'category' | 'tag', links: readonly Link[]) => tx`
  ${tx(`removed_${kind}`)} as (
    delete from ${tx(`product_${kind}`)} as linked
    using json_to_recordset(${JSON.stringify(links)}::text::json) as link (product uuid, id uuid)
    where linked.workspace_id = ${tx.context.workspaceId}
      and linked.product_id ${isOneOf(tx, [...new Set(links.map(({ product }) => product))])}
      and linked.product_id = link.product and linked.${tx(`${kind}_id`)} = link.id and ${unlessTaken}
  )`

const setMedia = ({ tx, unlessTaken }: Guarded, media: Difference['media']['set']) => tx`
  set_media as (
    insert into media (workspace_id, id, product_id, asset_id, position)
    select ${tx.context.workspaceId}, id, product, asset, position
    from json_to_recordset(${JSON.stringify(media)}::text::json) as row (id uuid, product uuid, asset uuid, position integer)
    where ${unlessTaken}
    on conflict (workspace_id, id) do update set position = excluded.position
  )`

const removedMedia = ({ tx, unlessTaken }: Guarded, ids: readonly string[]) => tx`
  removed_media as (
    delete from media
    where workspace_id = ${tx.context.workspaceId} and id ${isOneOf(tx, ids)} and ${unlessTaken}
  )`

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
