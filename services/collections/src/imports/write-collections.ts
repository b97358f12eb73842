import { COLLECTION } from '@backoffice/contracts/collection.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { isSameMembership } from '../collections/change-collection.ts'
import { type CollectionRecord, collectionRows } from '../collections/collection.ts'
import { raiseRuleVersion } from '../memberships/rule-sets.ts'

/** A collection before and after an import; `current` is undefined for a new one. */
export interface CollectionChange {
  readonly current: CollectionRecord | undefined
  readonly next: CollectionRecord
}

/** Inserts and updates collections, each in one statement. The builder makes their new membership versions. */
export async function writeCollections(tx: Transaction, changes: readonly CollectionChange[], now: Date) {
  const created = changes.filter(({ current }) => current === undefined)
  const updated = changes.filter(({ current }) => current !== undefined)
  if (created.length > 0) await insertCollections(tx, created)
  if (updated.length > 0) await updateCollections(tx, updated, now)
  const withNewMembership = changes.filter(
    ({ current, next }) => current === undefined || !isSameMembership(current, next),
  )
  if (withNewMembership.length > 0) await startMembershipVersions(tx, withNewMembership)
}

/** In the order of the handles, so that imports of the same handles do not deadlock. */
const insertCollections = (tx: Transaction, changes: readonly CollectionChange[]) => tx`
  insert into collection (workspace_id, ${tx.unsafe(COLLECTION.sql.columns)})
  select ${tx.context.workspaceId}, ${tx.unsafe(COLLECTION.sql.members)}
  from ${asRows(tx, changes)}
  order by handle collate "C"`

/** The handle is the row's key, and the cover image is in no file. */
const ASSIGNMENTS = COLLECTION.sql.assignments(
  COLLECTION.names.filter((name) => !['id', 'handle', 'createdAt', 'updatedAt'].includes(name)),
)

const updateCollections = (tx: Transaction, changes: readonly CollectionChange[], now: Date) => tx`
  update collection set ${tx.unsafe(ASSIGNMENTS)}, updated_at = greatest(collection.updated_at, ${now})
  from ${asRows(tx, changes)}
  where collection.workspace_id = ${tx.context.workspaceId} and collection.id = any(${idsOf(changes)}::uuid[])
    and collection.id = row.id`

/**
 * Starts a BUILDING membership version for each collection and retires versions that were BUILDING. Needs the EXCLUSIVE
 * membership lock, unless all collections are new and MANUAL: those have no members, and their versions are CURRENT at
 * once.
 */
async function startMembershipVersions(tx: Transaction, changes: readonly CollectionChange[]): Promise<void> {
  const workspace = tx.context.workspaceId
  await tx`
    with retired as (
      update membership_version set state = 'RETIRED', processed_to = null
      where workspace_id = ${workspace} and collection_id = any(${idsOf(changes)}::uuid[]) and state = 'BUILDING'
      returning number
    )
    insert into membership_version (workspace_id, collection_id, source, rules, sort_order, state)
    select ${workspace}, row.id,
      case "membershipType" when 'SMART' then 'RULES' else 'HAND_PICKED' end,
      case "membershipType" when 'SMART' then row.rules end, "sortOrder",
      case when "isNew" and "membershipType" = 'MANUAL' then 'CURRENT' else 'BUILDING' end
    from ${asRows(tx, changes)}
    cross join (select count(*) from retired) as after_update -- before it, the unique index on BUILDING would refuse the rows`
  if (changes.some(mayHaveRules)) await raiseRuleVersion(tx, workspace)
}

const mayHaveRules = ({ current, next }: CollectionChange) => current !== undefined || next.membershipType === 'SMART'

const idsOf = (changes: readonly CollectionChange[]): string[] => changes.map(({ next }) => next.id)

const asRows = (tx: Transaction, changes: readonly CollectionChange[]) =>
  collectionRows(
    tx,
    changes.map(({ current, next }) => ({ ...next, isNew: current === undefined })),
    ', "isNew" boolean',
  )
