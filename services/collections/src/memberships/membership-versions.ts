import type { MembershipType, SortOrder } from '@backoffice/contracts/collection.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { NIL } from 'uuid'
import { compileRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'
import {
  copyHandPickedMembers,
  type IdRange,
  insertMatchingProducts,
  type TargetVersion,
} from './build-membership-version.ts'
import { raiseRuleVersion } from './rule-sets.ts'

/** Products that the request itself processes; the membership builder processes the others. */
const BATCH_SIZE = 5000

/** The collection's columns that decide its members and their order. */
interface MembershipDefinition {
  readonly id: string
  readonly membershipType: MembershipType
  readonly sortOrder: SortOrder
  readonly rules: unknown
}

/**
 * In the transaction that changes type, rules or order. Needs the EXCLUSIVE lock, unless the collection is new and
 * MANUAL. With many products the version is BUILDING, and the previous one stays CURRENT. Returns the count of the
 * CURRENT one. Throws `service_unavailable` for rules that this process cannot read.
 */
export async function startMembershipVersion(tx: Transaction, collection: MembershipDefinition): Promise<number> {
  const { id, membershipType, sortOrder, rules } = collection
  const previous = await readPreviousVersions(tx, id, membershipType)
  const target = { workspaceId: tx.context.workspaceId, number: previous.nextNumber, sortOrder }
  const range = { after: NIL, last: previous.lastId ?? undefined }
  if (membershipType === 'SMART') await insertMatchingProducts(tx, target, compileRules(rules as Rules), range)
  else if (previous.handPicked !== null) await copyHandPickedMembers(tx, target, previous.handPicked, range)
  const count = await insertVersion(tx, target, collection, previous, range)
  if (membershipType === 'SMART' || previous.hasRules) await raiseRuleVersion(tx, target.workspaceId)
  return count
}

interface PreviousVersions {
  nextNumber: number
  current: number | null
  /** The version with the hand-picked members, CURRENT or SAVED. */
  handPicked: number | null
  hasRules: boolean
  /** The last product that the request processes; null if it processes all. */
  lastId: string | null
}

async function readPreviousVersions(tx: Transaction, collectionId: string, membershipType: MembershipType) {
  const { workspaceId } = tx.context
  const lastId =
    membershipType === 'SMART'
      ? tx`select id from product where workspace_id = ${workspaceId} order by id offset ${BATCH_SIZE - 1} limit 1`
      : tx`
        select product_id from collection_member where version_number = "handPicked"
        order by product_id offset ${BATCH_SIZE - 1} limit 1`
  const [previous] = await tx<[PreviousVersions]>`
    with previous as (
      select nextval(pg_get_serial_sequence('membership_version', 'number')) as "nextNumber",
        max(number) filter (where state = 'CURRENT') as current,
        max(number) filter (where source = 'HAND_PICKED' and state in ('CURRENT', 'SAVED')) as "handPicked",
        coalesce(bool_or(source = 'RULES' and state in ('CURRENT', 'BUILDING')), false) as "hasRules"
      from membership_version where workspace_id = ${workspaceId} and collection_id = ${collectionId}
    )
    select previous.*, (${lastId}) as "lastId" from previous`
  return previous
}

/**
 * The version is CURRENT if the request has processed all products, else BUILDING. Retires what it replaces; rules save
 * the hand-picked members instead. Returns the count of the CURRENT version.
 */
async function insertVersion(
  tx: Transaction,
  { workspaceId, number, sortOrder }: TargetVersion,
  { id: collectionId, membershipType, rules }: MembershipDefinition,
  { current }: PreviousVersions,
  { last }: IdRange,
): Promise<number> {
  const isSmart = membershipType === 'SMART'
  const isComplete = last === undefined
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
      select ${workspaceId}, ${collectionId}, ${number}, ${isSmart ? 'RULES' : 'HAND_PICKED'},
        ${isSmart ? JSON.stringify(rules) : null}::text::json, ${sortOrder}, ${isComplete ? 'CURRENT' : 'BUILDING'},
        ${last ?? null}
      from (select count(*) from retired) as after_update -- before it, the unique indexes by state would refuse the row
    )
    select coalesce(sum(available), 0)::bigint as count from collection_member_count
    where version_number = ${isComplete ? number : current}`
  return row.count
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
