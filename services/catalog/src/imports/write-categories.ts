import type { Category } from '@backoffice/contracts/product.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { recordCategoryChanges } from '../categories/lock-categories.ts'
import { requestMemberRefreshes } from '../member-changes/member-changes.ts'

/** Categories before and after a change of several. Those before are by slug, which stays. */
export interface CategoryChanges {
  readonly before: ReadonlyMap<string, Category>
  readonly after: readonly Category[]
}

/** Writes new and changed categories in one statement. Products that show a changed one are published (OP-37). */
export async function writeCategories(tx: Transaction, { before, after }: CategoryChanges, now: Date): Promise<void> {
  const workspace = tx.context.workspaceId
  const created = after.filter(({ slug }) => !before.has(slug))
  const changed = after.flatMap((category) => {
    const { name, parent, position } = before.get(category.slug) ?? category
    const isShownOtherwise = name !== category.name || parent !== category.parent
    return isShownOtherwise || position !== category.position ? [{ ...category, isShownOtherwise }] : []
  })
  if (created.length + changed.length === 0) return
  await tx`
    with new_category as (
      insert into category (workspace_id, id, name, slug, parent_id, position, created_at, updated_at)
      select ${workspace}, id, name, slug, parent, position, ${now}, ${now}
      from json_to_recordset(${JSON.stringify(created)}::text::json)
        as row (id uuid, name text, slug text, parent uuid, position integer)
      order by slug
    ), written as (
      update category set
        name = row.name, parent_id = row.parent, position = row.position, updated_at = greatest(updated_at, ${now})
      from json_to_recordset(${JSON.stringify(changed)}::text::json)
        as row (id uuid, name text, parent uuid, position integer, "isShownOtherwise" boolean)
      where category.workspace_id = ${workspace} and category.id = any(${changed.map(({ id }) => id)}::uuid[])
        and category.id = row.id
      returning category.id, "isShownOtherwise"
    ), shown_otherwise as (
      select id from written where "isShownOtherwise"
    ), told_joining as (
      ${recordCategoryChanges(tx, 'shown_otherwise')}
    )
    ${requestMemberRefreshes(tx, 'shown_otherwise')}`
}
