import type { Transaction } from '@backoffice/postgres/database.ts'
import { isSameMembership } from '../collections/change-collection.ts'
import type { CollectionRecord } from '../collections/collection.ts'
import { insertCollections, touched, updateCollections } from '../collections/write-collections.ts'
import { startBuilding } from '../memberships/membership-versions.ts'
import { raiseRuleVersion } from '../memberships/rule-sets.ts'

/** A collection before and after an import; `current` is undefined for a new one. */
export interface CollectionChange {
  readonly current: CollectionRecord | undefined
  readonly next: CollectionRecord
}

/** Inserts and updates collections, each in one statement. The builder makes their new membership versions. */
export async function writeCollections(tx: Transaction, changes: readonly CollectionChange[], now: Date) {
  const created = changes.flatMap(({ current, next }) => (current === undefined ? next : []))
  const updated = changes.flatMap(({ current, next }) => (current === undefined ? [] : touched(next, now)))
  if (created.length > 0) await insertCollections(tx, created)
  if (updated.length > 0) await updateCollections(tx, updated)
  const started = changes.filter(({ current, next }) => current === undefined || !isSameMembership(current, next))
  if (started.length === 0) return
  const ids = started.map(({ next }) => next.id)
  await startBuilding(tx, tx.context.workspaceId, tx`collection.id = any(${ids}::uuid[])`)
  if (started.some(mayHaveRules)) await raiseRuleVersion(tx, tx.context.workspaceId)
}

const mayHaveRules = ({ current, next }: CollectionChange) => current !== undefined || next.membershipType === 'SMART'
