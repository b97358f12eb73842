import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import { commaSeparated } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { type Difference, differenceOf, type Link, type ProductChange } from './product-difference.ts'
import { eventAndState, productStateRecord, referencesCreated } from './product-records.ts'
import type { ProductRecord } from './product-view.ts'
import { isOneOf } from './read-products.ts'
import { recordLimit } from './record-size.ts'
import type { CreatedReferences } from './references.ts'

interface Writing {
  /** Publishes events of the products and of references made with them. Without it only the state (OP-72). */
  readonly events?: { readonly newReferences?: CreatedReferences }
  /** What the stock ledger says of movements (decision 016); else that stock was created, set or deleted. */
  readonly stockReason?: 'imported' | 'undone'
  readonly now: Date
}

/**
 * Writes the difference between products before and after, and publishes their new state, without waiting: the
 * transaction fails when it cannot (`inTransaction`). One statement whatever their number, and one more where a
 * product's variants are replaced: the old ones go first, since the new ones may have their SKUs. The caller has locked
 * the products, and the variants whose stock it sets. A SKU or slug that is taken violates a unique constraint, and the
 * transaction runs again (decision 003): refuse it before (`refuseTaken`).
 */
export async function writeProducts(
  tx: Transaction,
  changes: readonly ProductChange[],
  { events, stockReason, now }: Writing,
): Promise<void> {
  if (changes.length === 0) return
  if (events) for (const { before, after } of changes) recordLimit()(after, before)
  const records = events
    ? [
        ...(events.newReferences ? referencesCreated(events.newReferences) : []),
        ...changes.flatMap(({ before, after }) => eventAndState(before ? 'product.updated' : 'product.created', after)),
      ]
    : changes.map(({ after }) => productStateRecord(after))
  if (stockReason) tx`select set_config('app.stock_reason', ${stockReason}, true)`.execute()
  const difference = differenceOf(changes)
  if (difference.replacedVariants.length > 0) deletedVariants(tx, difference.replacedVariants).execute()
  write(tx, difference)
  await publish(tx, records, now)
}

/**
 * One statement of the parts that have rows to write: an empty part costs time, and the triggers of the ledger run for
 * it. New rows are in the order of their unique keys, so that transactions with the same keys queue rather than
 * deadlock.
 */
function write(tx: Transaction, difference: Difference): void {
  const { created, changed, newVariants, changedVariants, removedVariants, options, categories, tags, media } =
    difference
  const parts = [
    options.set.length > 0 && setOptions(tx, options.set),
    options.removed.length > 0 && removedLinks(tx, 'option', options.removed),
    created.length > 0 && newProducts(tx, created),
    changed.length > 0 && changedProducts(tx, changed, difference.assignments),
    newVariants.length > 0 && insertedVariants(tx, newVariants),
    changedVariants.length > 0 && updatedVariants(tx, changedVariants),
    removedVariants.length > 0 && tx`removed_variant as (${deletedVariants(tx, removedVariants)})`,
    categories.set.length > 0 && setLinks(tx, 'category', categories.set),
    categories.removed.length > 0 && removedLinks(tx, 'category', categories.removed),
    tags.set.length > 0 && setLinks(tx, 'tag', tags.set),
    tags.removed.length > 0 && removedLinks(tx, 'tag', tags.removed),
    media.set.length > 0 && setMedia(tx, media.set),
    media.removed.length > 0 && removedMedia(tx, media.removed),
  ].filter((part) => part !== false)
  tx`with ${commaSeparated(tx, parts)} select where false`.execute()
}

const newProducts = (tx: Transaction, products: readonly ProductRecord[]) => tx`
  new_product as (
    insert into product (workspace_id, ${tx.unsafe(PRODUCT.sql.columns)})
    select ${tx.context.workspaceId}, ${tx.unsafe(PRODUCT.sql.members)}
    from json_to_recordset(${JSON.stringify(products.map(PRODUCT.row))}::text::json) as row (${tx.unsafe(PRODUCT.sql.row)})
  )`

const changedProducts = (tx: Transaction, products: readonly ProductRecord[], assignments: string) => tx`
  changed_product as (
    update product set ${tx.unsafe(assignments)}
    from json_to_recordset(${JSON.stringify(products.map(PRODUCT.row))}::text::json) as row (${tx.unsafe(PRODUCT.sql.row)})
    where product.workspace_id = ${tx.context.workspaceId} and product.id ${isOneOf(tx, idsOf(products))}
      and product.id = row.id
  )`

/** New variants come after the last one that the product has. */
const insertedVariants = (tx: Transaction, variants: Difference['newVariants']) => tx`
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
  )`

/** Orders take stock without a lock on the product, so a change that keeps the stock does not write it. */
const VARIANT_ASSIGNMENTS = VARIANT.sql.assignments(VARIANT.names.filter((name) => name !== 'id' && name !== 'stock'))

const updatedVariants = (tx: Transaction, variants: Difference['changedVariants']) => tx`
  changed_variant as (
    update variant set stock = coalesce(row.stock, variant.stock), ${tx.unsafe(VARIANT_ASSIGNMENTS)}
    from json_to_recordset(${JSON.stringify(variants)}::text::json) as row (${tx.unsafe(VARIANT.sql.row)})
    where variant.workspace_id = ${tx.context.workspaceId} and variant.id ${isOneOf(tx, idsOf(variants))}
      and variant.id = row.id
  )`

const deletedVariants = (tx: Transaction, ids: readonly string[]) => tx`
  delete from variant
  where workspace_id = ${tx.context.workspaceId} and id ${isOneOf(tx, ids)}`

/** Gives products options with their values, and the workspace's options the values they lack (OP-22, OP-24). */
const setOptions = (tx: Transaction, options: Difference['options']['set']) => tx`
  option_set as materialized (
    select * from json_to_recordset(${JSON.stringify(options)}::text::json)
      as row (product uuid, id uuid, position integer, values text[], added text[])
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

const setLinks = (tx: Transaction, kind: 'category' | 'tag', links: Difference['tags']['set']) => tx`
  ${tx(`set_${kind}`)} as (
    insert into ${tx(`product_${kind}`)} (workspace_id, product_id, ${tx(`${kind}_id`)}, position)
    select ${tx.context.workspaceId}, product, id, position
    from json_to_recordset(${JSON.stringify(links)}::text::json) as link (product uuid, id uuid, position integer)
    on conflict (workspace_id, product_id, ${tx(`${kind}_id`)}) do update set position = excluded.position
  )`

const removedLinks = (tx: Transaction, kind: 'option' | 'category' | 'tag', links: readonly Link[]) => tx`
  ${tx(`removed_${kind}`)} as (
    delete from ${tx(`product_${kind}`)} as linked
    using json_to_recordset(${JSON.stringify(links)}::text::json) as link (product uuid, id uuid)
    where linked.workspace_id = ${tx.context.workspaceId}
      and linked.product_id ${isOneOf(tx, [...new Set(links.map(({ product }) => product))])}
      and linked.product_id = link.product and linked.${tx(`${kind}_id`)} = link.id
  )`

const setMedia = (tx: Transaction, media: Difference['media']['set']) => tx`
  set_media as (
    insert into media (workspace_id, id, product_id, asset_id, position)
    select ${tx.context.workspaceId}, id, product, asset, position
    from json_to_recordset(${JSON.stringify(media)}::text::json) as row (id uuid, product uuid, asset uuid, position integer)
    on conflict (workspace_id, id) do update set position = excluded.position
  )`

const removedMedia = (tx: Transaction, ids: readonly string[]) => tx`
  removed_media as (
    delete from media
    where workspace_id = ${tx.context.workspaceId} and id ${isOneOf(tx, ids)}
  )`

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
