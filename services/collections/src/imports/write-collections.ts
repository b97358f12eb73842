import type { Transaction } from '@backoffice/postgres/database.ts'
import { isSameMembership } from '../collections/change-collection.ts'
import type { CollectionRecord } from '../collections/collection.ts'
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
  if (created.length > 0) await insertCollections(tx, created, now)
  if (updated.length > 0) await updateCollections(tx, updated, now)
  const withNewMembership = changes.filter(
    ({ current, next }) => current === undefined || !isSameMembership(current, next),
  )
  if (withNewMembership.length > 0) await startMembershipVersions(tx, withNewMembership)
}

/** In the order of the handles, so that imports of the same handles do not deadlock. */
const insertCollections = (tx: Transaction, changes: readonly CollectionChange[], now: Date) => tx`
  insert into collection (
    workspace_id, id, handle, name, description, seo_title, seo_description, sort_order, membership_type, rules, published,
    publish_at, unpublish_at, created_at, updated_at
  )
  select ${tx.context.workspaceId}, id, handle, name, description, "seoTitle", "seoDescription", "sortOrder", "membershipType",
    rules, published, "publishAt", "unpublishAt", ${now}, ${now}
  from ${asRows(tx, changes)}
  order by handle collate "C"`

const updateCollections = (tx: Transaction, changes: readonly CollectionChange[], now: Date) => tx`
  update collection set
    name = row.name, description = row.description, seo_title = "seoTitle", seo_description = "seoDescription",
    sort_order = "sortOrder", membership_type = "membershipType", rules = row.rules, published = row.published,
    publish_at = "publishAt", unpublish_at = "unpublishAt", updated_at = greatest(updated_at, ${now})
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

/** The collections as rows with the columns of `CollectionRecord`. */
function asRows(tx: Transaction, changes: readonly CollectionChange[]) {
  const rows = changes.map(({ current, next }) => ({ ...next, isNew: current === undefined }))
  return tx`
    json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      id uuid, handle text, name text, description text, "seoTitle" text, "seoDescription" text, "sortOrder" text,
      "membershipType" text, rules json, published boolean, "publishAt" timestamptz, "unpublishAt" timestamptz, "isNew" boolean
    )`
}
