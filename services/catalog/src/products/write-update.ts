import { isDeepStrictEqual } from 'node:util'
import { conflict } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { UpdateProductBody } from './product-input.ts'
import type { ProductRecord } from './product-view.ts'

/**
 * Writes what an update changed, in one statement, two for a switch between simple and variable. Throws `conflict` for a slug
 * or a SKU that is taken (OP-14, OP-15); one taken at this very moment fails on its unique constraint, and the transaction
 * runs again.
 */
export async function writeUpdate(
  tx: Transaction,
  current: ProductRecord,
  next: ProductRecord,
  body: UpdateProductBody,
): Promise<void> {
  const workspace = tx.context.workspaceId
  const { id } = next
  const isSwitched = (current.type === 'VARIABLE_PRODUCT') !== (next.type === 'VARIABLE_PRODUCT')
  if (isSwitched) await removeVariants(tx, id)
  const variant = next.type === 'VARIABLE_PRODUCT' ? undefined : next.variants[0]
  const isVariantNew = isSwitched && variant !== undefined
  const isVariantChanged = !isVariantNew && variant !== undefined && !isDeepStrictEqual(variant, current.variants[0])
  const written = variant !== undefined && (isVariantNew || isVariantChanged) ? variant : undefined
  // Null leaves a set as it is.
  const categories = idsIfChanged(current.categories, next.categories)
  const tags = idsIfChanged(current.tags, next.tags)
  const media = isDeepStrictEqual(current.media, next.media) ? null : next.media

  const [result] = await tx<[{ isWritten: boolean; isSkuTaken: boolean }]>`
    with taken as (
      select from variant where workspace_id = ${workspace} and sku = ${written?.sku ?? null} and id <> ${written?.id ?? null}
    ), changed as (
      update product set
        name = ${next.name}, slug = ${next.slug}, type = ${next.type}, status = ${next.status},
        description = ${next.description}, requires_shipping = ${next.requiresShipping}, can_preorder = ${next.canPreorder},
        preorder_stops_at = ${next.preorderStopsAt}, max_cart_quantity = ${next.maxCartQuantity},
        low_stock_threshold = ${next.lowStockThreshold}, purchase_note = ${next.purchaseNote}, tax_class = ${next.taxClass},
        version = ${next.version}, updated_at = ${next.updatedAt}
      where workspace_id = ${workspace} and id = ${id} and not exists (select from taken) and not exists (
        select from product where workspace_id = ${workspace} and slug = ${next.slug} and id <> ${id}
      )
      returning id
    ), new_variant as (
      insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
      select
        ${workspace}, ${written?.id ?? null}, id, ${written?.sku ?? null}, ${written?.stock ?? null},
        ${json(written?.price)}::text::jsonb, ${json(written?.cost)}::text::jsonb, '{}', 1
      from changed where ${isVariantNew}
    ), changed_variant as (
      update variant set
        sku = ${written?.sku ?? null}, stock = coalesce(${body.stock ?? null}, stock),
        price = ${json(written?.price)}::text::jsonb, cost = ${json(written?.cost)}::text::jsonb
      from changed
      where ${isVariantChanged} and variant.workspace_id = ${workspace} and variant.id = ${written?.id ?? null}
    ), gone_categories as (
      delete from product_category using changed
      where workspace_id = ${workspace} and product_id = changed.id and category_id <> all(${categories}::uuid[])
    ), new_categories as (
      insert into product_category (workspace_id, product_id, category_id, position)
      select ${workspace}, changed.id, new.id, ordinal
      from changed, unnest(${categories}::uuid[]) with ordinality as new (id, ordinal)
      on conflict (workspace_id, product_id, category_id) do update set position = excluded.position
    ), gone_tags as (
      delete from product_tag using changed
      where workspace_id = ${workspace} and product_id = changed.id and tag_id <> all(${tags}::uuid[])
    ), new_tags as (
      insert into product_tag (workspace_id, product_id, tag_id, position)
      select ${workspace}, changed.id, new.id, ordinal
      from changed, unnest(${tags}::uuid[]) with ordinality as new (id, ordinal)
      on conflict (workspace_id, product_id, tag_id) do update set position = excluded.position
    ), gone_media as (
      delete from media using changed
      where workspace_id = ${workspace} and product_id = changed.id
        and media.id <> all(${media?.map((item) => item.id) ?? null}::uuid[])
    ), new_media as (
      insert into media (workspace_id, id, product_id, asset_id, position)
      select ${workspace}, new.id, changed.id, new.asset, new.position
      from changed, json_to_recordset(${JSON.stringify(media ?? [])}::text::json)
        as new (id uuid, asset uuid, position integer)
      on conflict (workspace_id, id) do update set position = excluded.position
    )
    select exists (select from changed) as "isWritten", exists (select from taken) as "isSkuTaken"`
  if (result.isWritten) return
  if (result.isSkuTaken) throw conflict(`sku: "${written?.sku}" belongs to another product of this workspace`)
  throw conflict(`slug: "${next.slug}" belongs to another product of this workspace`)
}

/** Before the product's new kind of variants is written: both may use the same SKU. */
const removeVariants = (tx: Transaction, id: string) => tx`
  with gone as (delete from variant where workspace_id = ${tx.context.workspaceId} and product_id = ${id})
  delete from product_option where workspace_id = ${tx.context.workspaceId} and product_id = ${id}`

/** The ids of a product's categories or tags; null when they, and their order, are what they were. */
export const idsIfChanged = (current: readonly { id: string }[], next: readonly { id: string }[]): string[] | null => {
  const ids = next.map(({ id }) => id)
  return isDeepStrictEqual(
    current.map(({ id }) => id),
    ids,
  )
    ? null
    : ids
}

const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
