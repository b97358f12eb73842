import type { COLLECTION } from '@backoffice/contracts/collection.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { NIL } from 'uuid'
import { compileRules } from '../rules/compile.ts'
import { addedRules, type RuleTotals, refuseTooManyRules, ruleTotals } from '../rules/rule-limits.ts'
import type { Rules } from '../rules/rules.ts'
import { type GrowingVersion, insertMembers, lastOfChunk } from './build-membership-version.ts'
import { limitChunk } from './membership-lock.ts'
import { raiseRuleVersion } from './rule-sets.ts'

/** Products that the request itself processes; the membership builder processes the others. */
const BATCH_SIZE = 5000

/** What decides the members of a collection, and their order. */
type MembershipDefinition = Pick<RecordOf<typeof COLLECTION>, 'id' | 'membershipType' | 'sortOrder' | 'rules'>

interface NextVersion extends GrowingVersion {
  readonly source: 'RULES' | 'HAND_PICKED'
  readonly current: number | null
  /** Whether the collection has a version by rules until now. */
  readonly hadRules: boolean
  /** Those of the workspace with the collection as it is now; null for a MANUAL one. */
  readonly ruleTotals: RuleTotals | null
}

/**
 * Runs a request's transaction with `startMembershipVersion`, and again when its rules take too long over the products
 * that the request processes: then the membership builder evaluates them from the first product on.
 */
export const leavingCostlyRules = <Result>(run: (isLeft: boolean) => Promise<Result>): Promise<Result> =>
  run(false).catch((error: unknown) => {
    if (!isStatementTimeout(error)) throw error
    return run(true)
  })

/**
 * In the transaction that changes type, rules or order. Needs the EXCLUSIVE lock, unless the collection is new and
 * MANUAL. With many products, or rules that are left to the builder, the version is BUILDING, and the previous one
 * stays CURRENT. Returns the count of the CURRENT one. Throws `service_unavailable` for rules that this process cannot
 * read, and `unprocessable` for more rules than may be; `former` is the collection before.
 */
export async function startMembershipVersion(
  tx: Transaction,
  collection: MembershipDefinition,
  isLeft: boolean,
  former?: MembershipDefinition,
): Promise<number> {
  const { id, membershipType, sortOrder, rules } = collection
  const { workspaceId } = tx.context
  const isSmart = membershipType === 'SMART'
  const [next] = await tx<[NextVersion]>`
    select next.*, ${lastOfChunk(tx, workspaceId, BATCH_SIZE)}, ${isSmart && !isLeft ? limitChunk(tx) : null} as limited
    from (
      select ${workspaceId}::text as "workspaceId", ${isSmart ? 'RULES' : 'HAND_PICKED'}::text as source,
        ${sortOrder}::text as "sortOrder", ${NIL}::uuid as "processedTo",
        nextval(pg_get_serial_sequence('membership_version', 'number')) as number,
        max(number) filter (where state = 'CURRENT') as current,
        max(number) filter (where source = 'HAND_PICKED' and state in ('CURRENT', 'SAVED')) as "handPicked",
        coalesce(bool_or(source = 'RULES' and state in ('CURRENT', 'BUILDING')), false) as "hadRules",
        ${isSmart ? ruleTotals(tx) : tx`null::json`} as "ruleTotals"
      from membership_version where workspace_id = ${workspaceId} and collection_id = ${id}
    ) as next`
  if (next.ruleTotals) refuseTooManyRules(next.ruleTotals, addedRules(former, collection))
  if (!isSmart) await insertMembers(tx, next, undefined)
  else if (!isLeft) await insertMembers(tx, next, await compileRules(rules as Rules))
  const count = await insertVersion(tx, collection, isSmart && isLeft ? { ...next, lastId: NIL } : next)
  if (isSmart || next.hadRules) await raiseRuleVersion(tx, workspaceId)
  return count
}

/**
 * The version is CURRENT if the request has processed all products, else BUILDING. Retires what it replaces; rules save
 * the hand-picked members instead. Returns the count of the CURRENT version.
 */
async function insertVersion(
  tx: Transaction,
  { id: collectionId, rules }: MembershipDefinition,
  { workspaceId, number, source, sortOrder, current, lastId }: NextVersion,
): Promise<number> {
  const isSmart = source === 'RULES'
  const isComplete = lastId === null
  const [row] = await tx<[{ count: number }]>`
    with retired as (
      update membership_version set
        state = case when state = 'CURRENT' and source = 'HAND_PICKED' and ${isSmart} then 'SAVED' else 'RETIRED' end,
        processed_to = null
      where workspace_id = ${workspaceId} and collection_id = ${collectionId}
        and (state = 'BUILDING' or ${isComplete} and (state = 'CURRENT' or state = 'SAVED' and not ${isSmart}))
      returning number
    ),
    inserted as (
      insert into membership_version (workspace_id, collection_id, number, source, rules, sort_order, state, processed_to)
      select ${workspaceId}, ${collectionId}, ${number}, ${source},
        ${isSmart ? JSON.stringify(rules) : null}::text::json, ${sortOrder}, ${isComplete ? 'CURRENT' : 'BUILDING'},
        ${lastId}
      from (select count(*) from retired) as after_update -- before it, the unique indexes by state would refuse the row
    )
    select coalesce(sum(available), 0)::bigint as count from collection_member_count
    where version_number = ${isComplete ? number : current}`
  return row.count
}

/**
 * Starts a BUILDING version of each stored collection that meets a condition, and retires versions that were BUILDING.
 * Needs the EXCLUSIVE lock, unless all collections are new and MANUAL: those have no members, and their versions are
 * CURRENT at once. One that becomes MANUAL for the first time gets an empty SAVED version, which takes what is picked
 * until it is built. Then call `raiseRuleVersion`. Returns the number of collections.
 */
export async function startBuilding(sql: AnySql, workspaceId: string, condition = sql`true`): Promise<number> {
  const { count } = await sql`
    with retired as (
      update membership_version set state = 'RETIRED', processed_to = null
      where workspace_id = ${workspaceId} and state = 'BUILDING'
        and collection_id in (select id from collection where collection.workspace_id = ${workspaceId} and ${condition})
      returning number
    ),
    saved as (
      insert into membership_version (workspace_id, collection_id, source, sort_order, state)
      select workspace_id, id, 'HAND_PICKED', sort_order, 'SAVED' from collection
      where workspace_id = ${workspaceId} and membership_type = 'MANUAL' and ${condition} and exists (
        select from membership_version as former
        where former.workspace_id = ${workspaceId} and former.collection_id = collection.id
      ) and not exists (
        select from membership_version as former
        where former.workspace_id = ${workspaceId} and former.collection_id = collection.id
          and former.source = 'HAND_PICKED' and former.state in ('CURRENT', 'SAVED')
      )
    )
    insert into membership_version (workspace_id, collection_id, source, rules, sort_order, state)
    select workspace_id, id, case membership_type when 'SMART' then 'RULES' else 'HAND_PICKED' end,
      case membership_type when 'SMART' then rules end, sort_order,
      case when membership_type = 'SMART' or exists (
        select from membership_version as former
        where former.workspace_id = ${workspaceId} and former.collection_id = collection.id
      ) then 'BUILDING' else 'CURRENT' end
    from collection
    cross join (select count(*) from retired) as after_update -- before it, the unique index on BUILDING would refuse the rows
    where workspace_id = ${workspaceId} and ${condition}`
  return count
}

/** Retires all membership versions of deleted collections; the builder deletes their members. */
export async function retireMembershipVersions(tx: Transaction, collectionIds: readonly string[]): Promise<void> {
  const { workspaceId } = tx.context
  await tx`
    update membership_version set state = 'RETIRED', processed_to = null
    where workspace_id = ${workspaceId} and collection_id = any(${[...collectionIds]}::uuid[]) and state <> 'RETIRED'`
  await raiseRuleVersion(tx, workspaceId)
}

/** The number of storefront-available members of the CURRENT version, from the maintained counts. */
export async function countMembers(tx: Transaction, collectionId: string): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    select coalesce(sum(available), 0)::bigint as count
    from membership_version join collection_member_count on version_number = number
    where membership_version.workspace_id = ${tx.context.workspaceId} and collection_id = ${collectionId} and state = 'CURRENT'`
  return row.count
}
