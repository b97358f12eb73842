import { notFound, unprocessable } from '@backoffice/contracts/errors.ts'
import type { Category } from '@backoffice/contracts/product.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'

/**
 * Locks a category, so that no product joins it, and returns its newest version. With `tree`, for a change that writes
 * or checks parents, such changes of one workspace run one after the other; with `children` the direct children are
 * locked too, since their data changes as well. Throws `not_found`. Read other tables later: this statement's snapshot
 * may be older than what it waited for. Later statements are planned for this category, which has no product or a
 * million (decision 010).
 */
export async function lockCategory(
  tx: Transaction,
  id: string,
  { tree, children }: { tree: boolean; children: boolean },
): Promise<Category> {
  const workspace = tx.context.workspaceId
  const [category] = await tx<Category[]>`
    with locked as materialized (
      select id, name, slug, parent_id as parent, position
      from (
        select
          case when ${tree} then ${treeLock(tx)}::text end,
          set_config('plan_cache_mode', ${PLAN_EACH_TIME.plan_cache_mode}, true)
      ) as set_up, category
      where workspace_id = ${workspace} and deleted_slug is null and (id = ${id} or (${children} and parent_id = ${id}))
      order by id for update of category
    )
    select * from locked where id = ${id}`
  if (category === undefined) throw notFound(['id'], `this workspace has no category ${id}`)
  return category
}

/**
 * Locks the workspace's category tree, and the categories of the condition in id order, so that no product joins them
 * meanwhile. Read them in a later statement.
 */
export async function lockCategories(tx: Transaction, condition: SqlPart): Promise<void> {
  await tx`select ${treeLock(tx)}`
  await tx`
    select id from category where workspace_id = ${tx.context.workspaceId} and ${condition} order by id for update`
}

const treeLock = (tx: Transaction) =>
  tx`pg_advisory_xact_lock(hashtextextended(${`${tx.context.workspaceId} categories`}, 0))`

/** The categories of the condition. */
export const readCategories = (tx: Transaction, condition: SqlPart) => tx<Category[]>`
  select id, name, slug, parent_id as parent, position from category
  where workspace_id = ${tx.context.workspaceId} and deleted_slug is null and ${condition}`

/** The parent of each category of the condition, and of each above those, by id: any depth is allowed (OP-38). */
export async function readParents(tx: Transaction, condition: SqlPart): Promise<Map<string, string | null>> {
  const workspace = tx.context.workspaceId
  const rows = await tx<Pick<Category, 'id' | 'parent'>[]>`
    with recursive above as (
      select id, parent_id from category where workspace_id = ${workspace} and deleted_slug is null and ${condition}
      union
      select category.id, category.parent_id
      from above join category on category.workspace_id = ${workspace} and category.id = above.parent_id
    )
    select id, parent_id as parent from above`
  return new Map(rows.map(({ id, parent }) => [id, parent]))
}

/**
 * The part of a statement that records a change of the categories, locked for update, in the CTE `changed`: a trigger
 * publishes a product again that joins one at this moment and has read its old state (OP-37; 0008_categories.sql).
 */
export const recordCategoryChanges = (tx: Transaction, changed: string) => tx`
  insert into category_change (workspace_id, category_id, livemode, traceparent, changed_at)
  select ${tx.context.workspaceId}, id, ${tx.context.livemode}, ${tx.context.traceparent}, clock_timestamp()
  from ${tx(changed)} order by id
  on conflict (workspace_id, category_id) do update set traceparent = excluded.traceparent, changed_at = excluded.changed_at`

export const unknownCategory = (member: string, id: string) =>
  unprocessable([member], `this workspace has no category ${id}`, 'unknown_reference')
