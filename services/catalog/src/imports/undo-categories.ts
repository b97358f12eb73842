import type { Category } from '@backoffice/contracts/product.ts'
import type { ImportedChange, ImportUndo, UndoneChange, UndoOutcome } from '@backoffice/importing/importer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { lockCategories, readCategories, readParents } from '../categories/lock-categories.ts'
import { type CategoryChanges, writeCategories } from './write-categories.ts'

/** Undoes imported categories (OP-151), updated ones first: they leave created parents, which can then be deleted. */
export const undoCategories: ImportUndo<CategoryChanges> = {
  order: 'UPDATED_FIRST',
  kept: keptCategories,

  async undo(tx, changes, now) {
    const ids = changes.map(({ id }) => id)
    await lockCategories(tx, tx`id = any(${ids}::uuid[])`)
    const formerParents = changes.flatMap(({ former }) => (typeof former?.parent === 'string' ? former.parent : []))
    const [found, parents] = await Promise.all([
      readCategories(tx, tx`id = any(${[...ids, ...formerParents]}::uuid[])`),
      readParents(tx, tx`id = any(${formerParents}::uuid[])`),
    ])
    const known = new Map(found.map((category) => [category.id, category]))
    const isUnchanged = ({ id, version }: UndoneChange) => {
      const category = known.get(id)
      return category !== undefined && versionOf(category) === version
    }
    const unchanged = changes.filter(isUnchanged)
    const { restored, refused } = planRestored(unchanged, known, parents)
    const before = new Map(found.map((category) => [category.slug, category]))
    await writeCategories(tx, { before, after: [...restored.values()] }, now)
    const created = unchanged.filter(({ former }) => former === null).map(({ id }) => id)
    const deleted = await deleteUnused(tx, created)
    return changes.map((change): UndoOutcome => {
      const { id } = change
      if (deleted.has(id)) return { outcome: 'deleted' }
      if (restored.has(id)) return { outcome: 'restored' }
      if (!known.has(id)) return { outcome: 'kept', reason: 'was deleted since the import' }
      if (!isUnchanged(change)) return { outcome: 'kept', reason: 'was changed since the import' }
      return { outcome: 'kept', reason: refused.get(id) ?? 'has products or categories below it' }
    })
  },
}

const MEMBERS = ['name', 'parent', 'position'] as const

function keptCategories({ before, after }: CategoryChanges): ImportedChange[] {
  return after.flatMap((category): ImportedChange[] => {
    const { id, slug } = category
    const former = before.get(slug)
    const changed = MEMBERS.filter((member) => former?.[member] !== category[member])
    if (changed.length === 0) return []
    const version_after = versionOf(category)
    if (former === undefined) return [{ id, key: slug, former: null, version_before: null, version_after }]
    const values = Object.fromEntries(changed.map((member) => [member, former[member]]))
    return [{ id, key: slug, former: values, version_before: versionOf(former), version_after }]
  })
}

const versionOf = ({ name, slug, parent, position }: Category) => JSON.stringify([name, slug, parent, position])

/**
 * By id: the updated categories with their former values, and the reasons why others cannot get them back. `parents`
 * are those of the former parents, and of all above them.
 */
function planRestored(
  changes: readonly UndoneChange[],
  known: ReadonlyMap<string, Category>,
  parents: ReadonlyMap<string, string | null>,
) {
  const refused = new Map<string, string>()
  const restored = new Map<string, Category>()
  const moved = new Map<string, string | null>()
  for (const { id, former } of changes) {
    const category = known.get(id)
    if (category === undefined || former === null) continue
    const next: Category = { ...category, ...former }
    const isMoved = next.parent !== category.parent
    if (isMoved && next.parent !== null && !known.has(next.parent)) {
      refused.set(id, 'its former parent was deleted since the import')
      continue
    }
    restored.set(id, next)
    if (isMoved) moved.set(id, next.parent)
  }
  const parentOf = (id: string) => (moved.has(id) ? moved.get(id) : parents.get(id))
  const inCircle = () => {
    const circles = circlesAbove(moved.keys(), parentOf)
    return [...moved.keys()].filter((id) => circles.has(id))
  }
  for (let found = inCircle(); found.length > 0; found = inCircle()) {
    for (const id of found) {
      moved.delete(id)
      restored.delete(id)
      refused.set(id, 'its former parent is below it now')
    }
  }
  return { restored, refused }
}

/** The categories that would be below themselves, among these and those above them. Looks at each of them once. */
function circlesAbove(ids: Iterable<string>, parentOf: (id: string) => string | null | undefined): ReadonlySet<string> {
  const seenFrom = new Map<string, string>()
  const circles = new Set<string>()
  for (const id of ids) {
    let at: string | null | undefined = id
    for (; at && !seenFrom.has(at); at = parentOf(at)) seenFrom.set(at, id)
    // The way that began here has come back to itself.
    for (; at && seenFrom.get(at) === id && !circles.has(at); at = parentOf(at)) circles.add(at)
  }
  return circles
}

/** Deletes those of these categories that have no products, and no children that stay. Returns their ids. */
async function deleteUnused(tx: Transaction, ids: string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const workspace = tx.context.workspaceId
  const deleted = await tx<{ id: string }[]>`
    with recursive used as (
      select id, parent_id from category
      where workspace_id = ${workspace} and id = any(${ids}::uuid[]) and (
        exists (select from product_category where workspace_id = ${workspace} and category_id = category.id)
        or exists (
          select from category as child
          where child.workspace_id = ${workspace} and child.parent_id = category.id and child.id <> all(${ids}::uuid[])
        )
      )
      union
      select category.id, category.parent_id
      from used join category on category.workspace_id = ${workspace} and category.id = used.parent_id
    )
    delete from category
    where workspace_id = ${workspace} and id = any(${ids}::uuid[]) and id <> all(array(select id from used))
    returning id`
  return new Set(deleted.map(({ id }) => id))
}
