import type { Transaction } from '@backoffice/postgres/database.ts'

/** Members that one transaction locks and changes at most: a category or a tag may have a million products. */
export const BATCH_SIZE = 1000

export const LINKED_TABLES = {
  product_category: { table: 'category', column: 'category_id' },
  product_tag: { table: 'tag', column: 'tag_id' },
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
