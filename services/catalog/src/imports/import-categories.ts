import { isDeepStrictEqual } from 'node:util'
import { badRequest, unprocessable } from '@backoffice/contracts/errors.ts'
import { CategoryRow } from '@backoffice/contracts/imports.ts'
import type { Category } from '@backoffice/contracts/product.ts'
import type { Importer, RowsToPlan } from '@backoffice/messaging/importer.ts'
import type { Row } from '@backoffice/messaging/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { recordCategoryChanges } from '../categories/lock-category.ts'
import { refreshRequests } from '../refresh/refresh-requests.ts'

type BySlug = ReadonlyMap<string, Category>

/** The categories before and after the rows. */
interface CategoryChanges {
  readonly before: BySlug
  readonly after: readonly Category[]
}

/**
 * Rows of the template `categories` (OP-54, OP-55) in their order, so that a parent may come in an earlier row: creates categories,
 * and updates the categories that have the slug, by the rules of POST and PUT /v1/categories (OP-38).
 */
export const importCategories: Importer<CategoryChanges> = {
  async *plan(tx, batch, outcomes) {
    const rows = outcomes.read(CategoryRow, 'slug', batch.rows)
    const before = await findCategories(tx, batch, rows)
    const tree = {
      bySlug: new Map(before),
      byId: new Map([...before.values()].map((one) => [one.id, one])),
      earlier: new Map(batch.earlier.map((slug) => [slug, newCategory(slug)])),
    }
    for (const row of rows) {
      const next = outcomes.attempt(row, () => planRow(row, tree))
      if (next === undefined) continue
      const current = before.get(next.slug)
      outcomes.planned(row, { isNew: current === undefined, isChanged: !isDeepStrictEqual(current, next) })
      tree.bySlug.set(next.slug, next)
      tree.byId.set(next.id, next)
    }
    yield { before, after: [...tree.bySlug.values()] }
  },

  write: writeCategories,
}

/** The categories with the earlier rows applied. */
interface Tree {
  readonly bySlug: BySlug
  readonly byId: ReadonlyMap<string, Category>
  /** Of a check: categories that earlier rows of the file create, if the workspace does not have them. */
  readonly earlier: BySlug
}

/**
 * The categories that have the rows' slugs, the parents that rows name, and the ancestors of both. Unless it is a check, locks the
 * workspace's category tree, and the categories that have these slugs, in id order, so that no product joins them meanwhile.
 */
async function findCategories(
  tx: Transaction,
  { isCheck }: RowsToPlan,
  rows: readonly Row<CategoryRow>[],
): Promise<BySlug> {
  const workspace = tx.context.workspaceId
  const slugs = rows.map(({ values }) => values.slug)
  const parents = rows.flatMap(({ values }) => values.parent ?? [])
  if (!isCheck) await lockCategories(tx, slugs)
  const categories = await tx<Category[]>`
    with recursive known as (
      select id, name, slug, parent_id, position from category
      where workspace_id = ${workspace} and slug = any(${[...slugs, ...parents]})
      union
      select category.id, category.name, category.slug, category.parent_id, category.position
      from known join category on category.workspace_id = ${workspace} and category.id = known.parent_id
    )
    select id, name, slug, parent_id as parent, position from known`
  return new Map(categories.map((category) => [category.slug, category]))
}

async function lockCategories(tx: Transaction, slugs: readonly string[]): Promise<void> {
  const workspace = tx.context.workspaceId
  // The same lock as for a change of one category: see lock-category.ts.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${workspace} categories`}, 0))`
  await tx`
    select id from category where workspace_id = ${workspace} and slug = any(${slugs as string[]}) order by id for update`
}

/** The category with the row applied. Throws the row's refusal. */
function planRow({ values }: Row<CategoryRow>, tree: Tree): Category {
  const current = tree.bySlug.get(values.slug)
  const parent =
    values.parent === undefined ? undefined : (tree.bySlug.get(values.parent) ?? tree.earlier.get(values.parent))
  if (values.parent !== undefined && parent === undefined) {
    throw unprocessable(['parent'], `this workspace has no category "${values.parent}"`)
  }
  const name = values.name ?? current?.name
  if (name === undefined) throw badRequest(['name'], 'is required for a new category')
  if (current !== undefined && parent !== undefined) refuseBelow(parent, current, tree)
  const base = current ?? newCategory(values.slug)
  return { ...base, name, parent: parent?.id ?? base.parent, position: values.position ?? base.position }
}

const newCategory = (slug: string): Category => ({ id: uuidv7(), name: slug, slug, parent: null, position: 0 })

function refuseBelow(parent: Category, category: Category, { byId }: Tree): void {
  for (let above: Category | undefined = parent; above !== undefined; above = byId.get(above.parent ?? '')) {
    if (above.id === category.id)
      throw unprocessable(['parent'], 'must be neither the category itself nor one below it')
  }
}

/** Writes new and changed categories in one statement. Products that show a changed category are published anew (OP-37). */
async function writeCategories(tx: Transaction, { before, after }: CategoryChanges, now: Date): Promise<void> {
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
    ), requested as (
      select distinct product_id, false as is_change from product_category
      where workspace_id = ${workspace} and category_id = any(array(select id from shown_otherwise))
    )
    ${refreshRequests(tx)}`
}
