import type { AnySql } from '@backoffice/postgres/database.ts'

/** The workspaces of products: the record of a deletion has none. */
export async function workspacesOf(sql: AnySql, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await sql<{ workspaceId: string }[]>`
    select distinct workspace_id as "workspaceId" from product where id = any(${[...ids]}::uuid[])`
  return rows.map(({ workspaceId }) => workspaceId)
}

/**
 * Deletes products, also unknown ones, and inserts them into `deleted_product`, so that no late state brings one back. Needs the
 * SHARED membership locks of their workspaces. Locks the products that are `written` afterwards too: every transaction locks products
 * in the order of their ids.
 */
export async function applyDeletions(sql: AnySql, ids: readonly string[], written: readonly { id: string }[]) {
  if (ids.length === 0) return
  const all = [...ids, ...written.map(({ id }) => id)]
  await sql`select from product where id = any(${all}::uuid[]) order by id for update`
  await sql`
    insert into deleted_product (id) select id from unnest(${[...ids]}::uuid[]) as id order by id on conflict do nothing`
  await deleteProducts(sql, ids)
}

/** Deletes the products that meet a condition, and their members. Returns how many products. */
export async function deleteProducts(sql: AnySql, ids: readonly string[], condition = sql`true`): Promise<number> {
  const [deleted] = await sql<[{ count: number }]>`
    with deleted as (
      delete from product where id = any(${[...ids]}::uuid[]) and ${condition} returning workspace_id, id
    ),
    -- In the order in which every transaction locks members. The builder deletes those of RETIRED versions.
    removed as (
      select version_number, product_id
      from deleted join collection_member as member on member.workspace_id = deleted.workspace_id and product_id = deleted.id
      join membership_version on number = version_number
      where state <> 'RETIRED'
      order by version_number, product_id
      for update of member
    ),
    deleted_member as (
      delete from collection_member as member using removed
      where member.version_number = removed.version_number and member.product_id = removed.product_id
    )
    select count(*)::integer as count from deleted`
  return deleted.count
}
