import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { coversProduct } from './build-membership-version.ts'
import {
  type ChangedProduct,
  type MemberKey,
  planMembershipChanges,
  type StoredMember,
  unreadableOf,
} from './plan-membership-changes.ts'
import type { RuleSets } from './rule-sets.ts'

/**
 * Updates the memberships of changed products in all versions but RETIRED ones. One whose rules cannot be read keeps
 * its members and is marked. Needs the SHARED locks: under these, versions keep their state and `processed_to`. Each
 * statement looks up rows by keys: for joins of sets the planner would choose nested loops.
 */
export async function updateMemberships(sql: AnySql, ruleSets: RuleSets, products: readonly ChangedProduct[]) {
  const workspaceIds = [...new Set(products.map(({ workspaceId }) => workspaceId))]
  const [versions, members] = await Promise.all([ruleSets.of(sql, workspaceIds), readMembers(sql, products)])
  const { removed, updated, added } = await planMembershipChanges(products, versions, members)
  const unreadable = unreadableOf(versions)
  if (unreadable.length > 0) await markSkipped(sql, unreadable)
  if (removed.length > 0) await deleteMembers(sql, removed)
  if (updated.length > 0) await updateMembers(sql, updated)
  if (added.length > 0) await insertMembers(sql, added)
}

/** At most every ten seconds. Skips a locked version: only another transaction that marks it holds its lock. */
const markSkipped = (sql: AnySql, numbers: readonly number[]) => sql`
  update membership_version set skipped_at = now()
  where number in (
    select number from membership_version
    where number = any(${[...numbers]}::bigint[]) and (skipped_at is null or skipped_at < now() - interval '10 seconds')
    for update skip locked
  )`

/** Updates the sort keys and the availability of the members of products. Needs what `updateMemberships` needs. */
export async function updateOutdatedMembers(sql: AnySql, products: readonly ProductKey[]) {
  const members = await readMembers(sql, products)
  const outdated = members.filter(({ isOutdated }) => isOutdated)
  if (outdated.length > 0) await updateMembers(sql, outdated)
}

type ProductKey = Pick<ChangedProduct, 'workspaceId' | 'id'>

const keysOf = (sql: AnySql, products: readonly ProductKey[]) => sql`
  unnest(${products.map(({ workspaceId }) => workspaceId)}::uuid[], ${products.map(({ id }) => id)}::uuid[])`

/** `offset 0` keeps the planner from turning the lookups into joins of sets. */
const readMembers = (sql: AnySql, products: readonly ProductKey[]) => sql<StoredMember[]>`
  select member.workspace_id as "workspaceId", version_number as "versionNumber", product_id as "productId",
    source = 'RULES' as "isRuleBased",
    (sort_key, is_available) <>
      (sort_key(sort_order, name, created_at, stock, position, tie_breaker), status = 'ACTIVE') as "isOutdated"
  from ${keysOf(sql, products)} as changed (workspace_id, id)
  cross join lateral (
    select * from collection_member as own where own.workspace_id = changed.workspace_id and product_id = changed.id offset 0
  ) as member
  cross join lateral (
    select source, sort_order from membership_version where number = version_number and state <> 'RETIRED' offset 0
  ) as version
  cross join lateral (
    select name, created_at, stock, status from product
    where product.workspace_id = changed.workspace_id and product.id = changed.id offset 0
  ) as product`

const asRows = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  unnest(
    ${keys.map(({ workspaceId }) => workspaceId)}::uuid[], ${keys.map(({ versionNumber }) => versionNumber)}::bigint[],
    ${keys.map(({ productId }) => productId)}::uuid[]
  ) as key (workspace_id, version_number, product_id)`

const hasKey = (sql: AnySql, key: string) => sql`
  member.version_number = ${sql(key)}.version_number and member.product_id = ${sql(key)}.product_id`

const deleteMembers = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  delete from collection_member as member using ${asRows(sql, keys)} where ${hasKey(sql, 'key')}`

/** Deletes the members of versions that meet a condition. Locks them in key order, as every transaction does. */
export const deleteMembersWhere = (sql: AnySql, condition: SqlPart) => sql`
  with removed as (
    select version_number, product_id from membership_version join collection_member on version_number = number
    where ${condition}
    order by version_number, product_id
    for update of collection_member
  )
  delete from collection_member as member using removed where ${hasKey(sql, 'removed')}`

/** Deletes the members of deleted products. The builder deletes those of RETIRED versions. */
export const deleteMembersOf = (sql: AnySql, products: readonly ProductKey[]) =>
  deleteMembersWhere(
    sql,
    sql`state <> 'RETIRED' and (collection_member.workspace_id, product_id) in (select * from ${keysOf(sql, products)})`,
  )

/** Locks the members in key order, as every transaction does that locks several, and then reads their positions. */
const updateMembers = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  update collection_member as member set
    sort_key = sort_key(sort_order, name, product.created_at, stock, position, tie_breaker), is_available = status = 'ACTIVE'
  from (
    select key.* from ${asRows(sql, keys)} join collection_member as member on ${hasKey(sql, 'key')}
    order by key.version_number, key.product_id
    for update of member
  ) as locked
  join product on product.workspace_id = locked.workspace_id and product.id = locked.product_id
  join membership_version on membership_version.number = locked.version_number
  where ${hasKey(sql, 'locked')}`

const insertMembers = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
  select key.workspace_id, key.version_number, key.product_id, 0,
    sort_key(sort_order, name, created_at, stock, 0, 0), status = 'ACTIVE'
  from ${asRows(sql, keys)}
  join membership_version on membership_version.number = key.version_number and ${coversProduct(sql, sql`key.product_id`)}
  join product on product.workspace_id = key.workspace_id and product.id = key.product_id
  on conflict do nothing`
