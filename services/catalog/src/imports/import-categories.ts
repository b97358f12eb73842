import { isDeepStrictEqual } from 'node:util'
import { badRequest, unprocessable } from '@backoffice/contracts/errors.ts'
import { CategoryRow } from '@backoffice/contracts/imports.ts'
import type { Category } from '@backoffice/contracts/product.ts'
import type { Importer, RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { lockCategories, readCategories, readParents } from '../categories/lock-categories.ts'
import { undoCategories } from './undo-categories.ts'
import { type CategoryChanges, writeCategories } from './write-categories.ts'

type BySlug = CategoryChanges['before']

/**
 * Rows of the template `categories` (OP-54, OP-55) in their order, so that a parent may come in an earlier row: creates
 * categories, and updates the categories that have the slug, by the rules of POST and PUT /v1/categories (OP-38).
 */
export const importCategories: Importer<CategoryChanges> = {
  async *plan(tx, batch, outcomes) {
    const rows = await outcomes.read(CategoryRow, 'slug', batch.rows)
    const before = await findCategories(tx, batch, rows)
    const tree = {
      bySlug: new Map(before),
      parents: await findParents(tx, before, rows),
      earlier: new Map(batch.earlier.map((slug) => [slug, newCategory(slug)])),
    }
    await outcomes.attempts(rows, (row) => {
      const next = planRow(row, tree)
      const current = before.get(next.slug)
      outcomes.planned(row, { isNew: current === undefined, isChanged: !isDeepStrictEqual(current, next) })
      tree.bySlug.set(next.slug, next)
      tree.parents.set(next.id, next.parent)
    })
    yield { before, after: [...tree.bySlug.values()] }
  },

  write: writeCategories,
  undo: undoCategories,
}

/** The categories with the earlier rows applied. */
interface Tree {
  readonly bySlug: BySlug
  /** By id. */
  readonly parents: ReadonlyMap<string, string | null>
  /** Of a check: categories that earlier rows of the file create, if the workspace does not have them. */
  readonly earlier: BySlug
}

/**
 * The categories that have the rows' slugs, and the parents that rows name. Unless it is a check, locks the workspace's
 * category tree, and the categories that have these slugs, in id order, so that no product joins them meanwhile.
 */
async function findCategories(
  tx: Transaction,
  { isCheck }: RowsToPlan,
  rows: readonly Row<CategoryRow>[],
): Promise<BySlug> {
  const slugs = rows.map(({ values }) => values.slug)
  if (!isCheck) await lockCategories(tx, tx`slug = any(${slugs})`)
  const categories = await readCategories(tx, tx`slug = any(${[...slugs, ...parentsIn(rows)]})`)
  return new Map(categories.map((category) => [category.slug, category]))
}

const parentsIn = (rows: readonly Row<CategoryRow>[]) => rows.flatMap(({ values }) => values.parent ?? [])

/** The parents of the parents that rows name, and of all above them, when a row moves a category that is there. */
async function findParents(tx: Transaction, before: BySlug, rows: readonly Row<CategoryRow>[]) {
  const isMoved = rows.some(({ values: { slug, parent } }) => {
    const current = before.get(slug)
    return current !== undefined && parent !== undefined && current.parent !== before.get(parent)?.id
  })
  if (!isMoved) return new Map<string, string | null>()
  return readParents(tx, tx`slug = any(${parentsIn(rows)})`)
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
  if (current !== undefined && parent !== undefined && parent.id !== current.parent) refuseBelow(parent, current, tree)
  const base = current ?? newCategory(values.slug)
  return { ...base, name, parent: parent?.id ?? base.parent, position: values.position ?? base.position }
}

const newCategory = (slug: string): Category => ({ id: newId(), name: slug, slug, parent: null, position: 0 })

function refuseBelow(parent: Category, { id }: Category, { parents }: Tree): void {
  for (let above: string | null | undefined = parent.id; above; above = parents.get(above)) {
    if (above === id) throw unprocessable(['parent'], 'must be neither the category itself nor one below it')
  }
}
