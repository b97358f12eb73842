import type { Category } from '@backoffice/contracts/product.ts'
import type { ImportedChange, ImportUndo, UndoneChange, UndoOutcome } from '@backoffice/importing/importer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { lockCategories } from './lock-categories.ts'
import { type CategoryChanges, writeCategories } from './write-categories.ts'

/** Undoes imported categories (OP-151), updated ones first: they leave created parents, which can then be deleted. */
export const undoCategories: ImportUndo<CategoryChanges> = {
  order: 'UPDATED_FIRST',
  kept: keptCategories,

  async undo(tx, changes, now) {
    const ids = changes.map(({ id }) => id)
    await lockCategories(tx, tx`id = any(${ids}::uuid[])`)
    const known = await readWithAncestors(tx, changes)
    const isUnchanged = ({ id, version }: UndoneChange) => {
      const category = known.get(id)
      return category !== undefined && versionOf(category) === version
    }
    const unchanged = changes.filter(isUnchanged)
    const { restored, refused } = planRestored(unchanged, known)
    const before = new Map([...known.values()].map((category) => [category.slug, category]))
    await writeCategories(tx, { before, after: restored }, now)
    const created = unchanged.filter(({ former }) => former === null).map(({ id }) => id)
    const deleted = await deleteUnused(tx, created, known)
    const isRestored = new Set(restored.map(({ id }) => id))
    return changes.map((change): UndoOutcome => {
      const { id } = change
      if (deleted.has(id)) return { outcome: 'deleted' }
      if (isRestored.has(id)) return { outcome: 'restored' }
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
    const version_after = versionOf(category)
    if (former === undefined) return [{ id, key: slug, former: null, version_before: null, version_after }]
    const changed = MEMBERS.filter((member) => former[member] !== category[member])
    if (changed.length === 0) return []
    const values = Object.fromEntries(changed.map((member) => [member, former[member]]))
    return [{ id, key: slug, former: values, version_before: versionOf(former), version_after }]
  })
}

const versionOf = ({ name, slug, parent, position }: Category) => JSON.stringify([name, slug, parent, position])

/** The categories of the changes and their former parents, with the ancestors of both, by id. */
async function readWithAncestors(
  tx: Transaction,
  changes: readonly UndoneChange[],
): Promise<ReadonlyMap<string, Category>> {
  const workspace = tx.context.workspaceId
  const ids = changes.flatMap(({ id, former }) => [id, ...(typeof former?.parent === 'string' ? [former.parent] : [])])
  const categories = await tx<Category[]>`
    with recursive known as (
      select id, name, slug, parent_id, position from category
      where workspace_id = ${workspace} and id = any(${ids}::uuid[]) and deleted_slug is null
      union
      select category.id, category.name, category.slug, category.parent_id, category.position
      from known join category on category.workspace_id = ${workspace} and category.id = known.parent_id
    )
    select id, name, slug, parent_id as parent, position from known`
  return new Map(categories.map((category) => [category.id, category]))
}

/** The updated categories with their former values, and by id the reasons why others cannot get them back. */
function planRestored(changes: readonly UndoneChange[], known: ReadonlyMap<string, Category>) {
  const refused = new Map<string, string>()
  const restored = new Map<string, Category>()
  for (const { id, former } of changes) {
    const category = known.get(id)
    if (category === undefined || former === null) continue
    const next: Category = { ...category, ...former }
    if (next.parent !== null && !known.has(next.parent))
      refused.set(id, 'its former parent was deleted since the import')
    else restored.set(id, next)
  }
  const inCircle = () =>
    [...restored.keys()].filter((id) => isBelowItself(id, (one) => restored.get(one) ?? known.get(one)))
  for (let found = inCircle(); found.length > 0; found = inCircle()) {
    for (const id of found) {
      restored.delete(id)
      refused.set(id, 'its former parent is below it now')
    }
  }
  return { restored: [...restored.values()], refused }
}

function isBelowItself(id: string, categoryOf: (id: string) => Category | undefined): boolean {
  const seen = new Set<string>()
  for (let above = categoryOf(id)?.parent; above; above = categoryOf(above)?.parent) {
    if (above === id) return true
    if (seen.has(above)) return false
    seen.add(above)
  }
  return false
}

/** Deletes those of these categories that have no products, and no children that stay. The newest come first. */
async function deleteUnused(
  tx: Transaction,
  ids: readonly string[],
  known: ReadonlyMap<string, Category>,
): Promise<ReadonlySet<string>> {
  const deleted = new Set<string>()
  if (ids.length === 0) return deleted
  const workspace = tx.context.workspaceId
  const used = await tx<{ id: string }[]>`
    select id from category
    where workspace_id = ${workspace} and id = any(${ids as string[]}::uuid[]) and (
      exists (select from product_category where workspace_id = ${workspace} and category_id = category.id)
      or exists (
        select from category as child
        where child.workspace_id = ${workspace} and child.parent_id = category.id and child.id <> all(${ids as string[]}::uuid[])
      )
    )`
  const isUsed = new Set(used.map(({ id }) => id))
  for (const id of ids) {
    if (!isUsed.has(id)) deleted.add(id)
    else for (let above = known.get(id)?.parent; above; above = known.get(above)?.parent) isUsed.add(above)
  }
  for (const id of isUsed) deleted.delete(id)
  if (deleted.size > 0) {
    await tx`delete from category where workspace_id = ${workspace} and id = any(${[...deleted]}::uuid[])`
  }
  return deleted
}
