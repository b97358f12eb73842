import type { AnySql } from '@backoffice/postgres/database.ts'

/** Workspaces that have these products: a deletion tells none. */
export async function workspacesOf(sql: AnySql, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await sql<{ workspaceId: string }[]>`
    select distinct workspace_id as "workspaceId" from product where id = any(${[...ids]}::uuid[])`
  return rows.map(({ workspaceId }) => workspaceId)
}

/**
 * Deletes products, under the membership lock of their workspaces, and remembers them, whether they were known or not, so that no
 * state that comes late brings one back. `others` are written afterwards: all are locked here in the order of their ids, as by all
 * who lock several.
 */
export async function deleteTold(
  sql: AnySql,
  ids: readonly string[],
  others: readonly { readonly id: string }[],
): Promise<void> {
  if (ids.length === 0) return
  const all = [...ids, ...others.map(({ id }) => id)]
  await sql`select from product where id = any(${all}::uuid[]) order by id for update`
  await sql`
    insert into deleted_product (id) select id from unnest(${[...ids]}::uuid[]) as id order by id on conflict do nothing`
  await deleteProducts(sql, ids)
}

/** Deletes those of the products that a condition holds for, with their memberships. Returns how many. */
export async function deleteProducts(sql: AnySql, ids: readonly string[], condition = sql`true`): Promise<number> {
  const [deleted] = await sql<[{ count: number }]>`
    with gone as (
      delete from product where id = any(${[...ids]}::uuid[]) and ${condition} returning workspace_id, id
    ),
    -- In one order, as all who lock several members. What is OLD is deleted anyway.
    leaving as (
      select member.generation, member.product_id
      from gone join member on member.workspace_id = gone.workspace_id and member.product_id = gone.id
      join generation on generation.number = member.generation
      where generation.state <> 'OLD'
      order by member.generation, member.product_id
      for update of member
    ),
    left_behind as (
      delete from member using leaving
      where member.generation = leaving.generation and member.product_id = leaving.product_id
    )
    select count(*)::integer as count from gone`
  return deleted.count
}
