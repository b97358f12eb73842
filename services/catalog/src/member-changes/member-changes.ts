import type { Transaction } from '@backoffice/postgres/database.ts'
import { refreshRequests } from '../products/refresh-products.ts'

/** Members that one transaction locks and changes at most: a category or a tag may have a million products. */
export const BATCH_SIZE = 1000

/** What the tables of members link products with, and the change that a worker makes after its deletion. */
export const LINKED_TABLES = {
  product_category: { table: 'category', column: 'category_id', deletion: 'CATEGORY_DELETED' },
  product_tag: { table: 'tag', column: 'tag_id', deletion: 'TAG_DELETED' },
} as const

export type Links = keyof typeof LINKED_TABLES

/**
 * Locks the first products of a category or tag in id order, and returns their ids. Products are locked before their
 * categories and tags, so call it first.
 */
export async function lockMembers(tx: Transaction, links: Links, id: string, skipLocked = false): Promise<string[]> {
  const workspace = tx.context.workspaceId
  const rows = await tx<{ id: string }[]>`
    select product.id
    from ${tx(links)} as link join product on product.workspace_id = ${workspace} and product.id = link.product_id
    where link.workspace_id = ${workspace} and link.${tx(LINKED_TABLES[links].column)} = ${id}
    order by link.product_id limit ${BATCH_SIZE}
    for no key update of product ${skipLocked ? tx`skip locked` : tx``}`
  return rows.map((row) => row.id)
}

/**
 * The part of a statement that has the products of the categories, locked for update, in its CTE `changed` published
 * again, without product.updated: a worker inserts the refresh requests in chunks.
 */
export const requestMemberRefreshes = (tx: Transaction, changed: string) => tx`
  insert into member_change (workspace_id, kind, of_id, livemode, traceparent)
  select ${tx.context.workspaceId}, 'CATEGORY_SHOWN', id, ${tx.context.livemode}, ${tx.context.traceparent}
  from ${tx(changed)} order by id
  on conflict (workspace_id, of_id, kind) where reached is null do update set traceparent = excluded.traceparent`

/**
 * Deletes a locked category or tag. While it has products it is hidden; a worker moves them to `target` or untags them,
 * and then deletes it. A separate statement, so that its snapshot has the products as they are now.
 */
export const deleteOrHide = (tx: Transaction, links: Links, id: string, target: string | null = null) => {
  const workspace = tx.context.workspaceId
  const { table, column, deletion } = LINKED_TABLES[links]
  return tx`
    with deleted as materialized (
      select id, exists (
        select from ${tx(links)} where workspace_id = ${workspace} and ${tx(column)} = ${id}
      ) as "hasProducts"
      from ${tx(table)} where workspace_id = ${workspace} and id = ${id}
    ), hidden as (
      update ${tx(table)} as kept set
        deleted_slug = slug, slug = 'deleted ' || deleted.id ${table === 'category' ? tx`, parent_id = null` : tx``}
      from deleted
      where workspace_id = ${workspace} and kept.id = deleted.id and "hasProducts"
      returning kept.id
    ), waiting as (
      insert into member_change (workspace_id, kind, of_id, reassign_to, livemode, traceparent)
      select ${workspace}, ${deletion}, id, ${target}, ${tx.context.livemode}, ${tx.context.traceparent} from hidden
    )
    delete from ${tx(table)} as removed using deleted
    where workspace_id = ${workspace} and removed.id = deleted.id and not "hasProducts"`
}

/** Takes a tag from locked products, and requests their product.updated (OP-37). */
export const untagProducts = (tx: Transaction, products: readonly string[], tag: string) => {
  const workspace = tx.context.workspaceId
  return tx`
    with untagged as (
      delete from product_tag
      where workspace_id = ${workspace} and tag_id = ${tag} and product_id = any(${products as string[]}::uuid[])
      returning product_id
    ), requested as (
      select product_id, true as is_change from untagged
    )
    ${refreshRequests(tx)}`
}

/**
 * Moves locked products to another category, and requests their product.updated (OP-37, OP-38). The target takes the
 * category's position; a product with both keeps the target, at the lower of the two.
 */
export const moveProducts = (tx: Transaction, products: readonly string[], from: string, to: string) => {
  const workspace = tx.context.workspaceId
  return tx`
    with former as (
      delete from product_category
      where workspace_id = ${workspace} and category_id = ${from} and product_id = any(${products as string[]}::uuid[])
      returning product_id, position
    ), moved as (
      insert into product_category as kept (workspace_id, product_id, category_id, position)
      select ${workspace}, product_id, ${to}, position from former
      on conflict (workspace_id, product_id, category_id) do update set position = least(kept.position, excluded.position)
    ), requested as (
      select product_id, true as is_change from former
    )
    ${refreshRequests(tx)}`
}
