import { isDeepStrictEqual } from 'node:util'
import type { ImportedChange, ImportUndo, UndoneChange, UndoOutcome } from '@backoffice/importing/importer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type CollectionRecord, collectionColumns } from '../collections/collection.ts'
import { deleteCollections } from '../collections/delete-collection.ts'
import { lockMembershipsExclusive } from '../memberships/membership-lock.ts'
import { type CollectionChange, writeCollections } from './write-collections.ts'

/** Undoes imported collections (OP-151). Products that were picked by hand since are a change of the collection. */
export const undoCollections: ImportUndo<CollectionChange[]> = {
  order: 'CREATED_FIRST',
  kept: (changes) => changes.map(keptCollection),

  async undo(tx, changes, now) {
    const ids = changes.map(({ id }) => id)
    await lockMembershipsExclusive(tx, tx.context.workspaceId)
    const known = await lockCollections(tx, ids)
    const outcomes = changes.map((change) => decide(change, known.get(change.id)))
    await deleteCollections(
      tx,
      ids.filter((_, index) => outcomes[index]?.outcome === 'deleted'),
    )
    const restored = changes.flatMap(({ id, former }, index): CollectionChange[] => {
      const current = known.get(id)?.collection
      if (current === undefined || outcomes[index]?.outcome !== 'restored') return []
      // Former times are texts: they are only written.
      return [{ current, next: { ...current, ...former } }]
    })
    await writeCollections(tx, restored, now)
    return outcomes
  },
}

function decide({ former, version }: UndoneChange, found: Undoable | undefined): UndoOutcome {
  if (found === undefined) return { outcome: 'kept', reason: 'was deleted since the import' }
  // Rules that an undo restored have their members in another order.
  const isUnchanged =
    version !== null && isDeepStrictEqual(JSON.parse(versionOf(found.collection)), JSON.parse(version))
  if (!isUnchanged) return { outcome: 'kept', reason: 'was changed since the import' }
  const losesMembers = former === null || former.membershipType === 'SMART'
  if (losesMembers && found.hasHandPicked) return { outcome: 'kept', reason: 'has products that were picked by hand' }
  return { outcome: former === null ? 'deleted' : 'restored' }
}

const NOT_KEPT: readonly string[] = ['createdAt', 'updatedAt'] satisfies (keyof CollectionRecord)[]

function keptCollection({ current, next }: CollectionChange): ImportedChange {
  const { id, handle: key } = next
  const version_after = versionOf(next)
  if (current === undefined) return { id, key, former: null, version_before: null, version_after }
  const changed = Object.entries(current).filter(
    ([member, value]) =>
      !NOT_KEPT.includes(member) && !isDeepStrictEqual(value, next[member as keyof CollectionRecord]),
  )
  return { id, key, former: Object.fromEntries(changed), version_before: versionOf(current), version_after }
}

/** The members as a text in a fixed order, which differs after each change. */
const versionOf = (collection: CollectionRecord): string =>
  JSON.stringify(
    Object.entries(collection)
      .filter(([member]) => !NOT_KEPT.includes(member))
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

type Undoable = { readonly collection: CollectionRecord; readonly hasHandPicked: boolean }

async function lockCollections(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, Undoable>> {
  const workspace = tx.context.workspaceId
  const found = await tx<(CollectionRecord & Pick<Undoable, 'hasHandPicked'>)[]>`
    select ${collectionColumns(tx)}, exists (
      select from membership_version join collection_member on version_number = number
      where membership_version.workspace_id = ${workspace} and collection_id = collection.id
        and source = 'HAND_PICKED' and state <> 'RETIRED'
    ) as "hasHandPicked"
    from collection where workspace_id = ${workspace} and id = any(${[...ids]}::uuid[])
    order by id for update`
  return new Map(found.map(({ hasHandPicked, ...collection }) => [collection.id, { collection, hasHandPicked }]))
}
