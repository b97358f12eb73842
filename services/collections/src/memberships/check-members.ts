import type { AnySql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Check } from '@backoffice/service/checks/check.ts'
import type { CompiledRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'
import { coversProduct } from './build-membership-version.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

/** The kind of difference between the stored membership and the evaluated one. */
type DifferenceKind =
  | 'missing' // a product that matches the rules is not a member
  | 'surplus' // a member's product does not match the rules, does not exist and is not awaited, or is not processed yet
  | 'place' // a member's sort key is not that of its product and position
  | 'availability' // a member's availability is not its product's
  | 'count' // the maintained count is not the number of available members
  | 'outdated' // the CURRENT version lacks the collection's rules, type or order, and none is BUILDING
  | 'unreadable' // this version of the service cannot read the rules: the members are not compared
  | 'orphaned' // members or counts without version, a version without collection, or another workspace's id on one of them

export interface MembershipDifference {
  readonly workspace: string
  /** Null for members and counts without a version. */
  readonly collection: string | null
  readonly kind: DifferenceKind
  readonly product?: string | null
  readonly stored?: string | null
  readonly expected?: string | null
}

type StoredVersion = {
  workspace: string
  collection: string
  number: number
  sortOrder: string
} & ({ source: 'HAND_PICKED' } | { source: 'RULES'; rules: Rules })

const DIFFERENCE_BATCH_SIZE = 1000
/** Versions read at once: the rules of one may be a megabyte. */
const VERSION_BATCH_SIZE = 20

/**
 * Compares the members of all versions but RETIRED ones with the evaluated ones, and all counts with their members.
 * `sql` is a repeatable read transaction of the worker role or a superuser.
 */
export async function* membershipDifferences(sql: AnySql): AsyncGenerator<MembershipDifference> {
  // The planner has no statistics of new versions and would choose nested loops over two large sets.
  await sql`set local enable_nestloop = off`
  const readAfter = async (number: number) => sql<StoredVersion[]>`
    select workspace_id as workspace, collection_id as collection, number, source, rules, sort_order as "sortOrder"
    from membership_version where number > ${number} and state <> 'RETIRED'
    order by number limit ${VERSION_BATCH_SIZE}`
  const unreadable = new UnreadableVersions()
  for (let batch = await readAfter(0); batch.length > 0; batch = await readAfter(batch.at(-1)?.number ?? 0)) {
    for (const version of batch) {
      const { workspace, collection, number } = version
      const isRuleBased = version.source === 'RULES'
      const rules = isRuleBased ? await unreadable.compile({ ...version, workspaceId: workspace }) : null
      if (isRuleBased && rules === null) yield { workspace, collection, kind: 'unreadable', stored: String(number) }
      else {
        const found = memberDifferences(sql, version, rules).cursor(DIFFERENCE_BATCH_SIZE)
        for await (const differences of found) yield* differences
      }
    }
  }
  for (const query of [countDifferences(sql), versionDifferences(sql)]) {
    for await (const differences of query.cursor(DIFFERENCE_BATCH_SIZE)) yield* differences
  }
}

/** Both sides are read in key order, and merged with constant memory. `rules` are null for hand-picked members. */
function memberDifferences(sql: AnySql, version: StoredVersion, rules: CompiledRules | null) {
  const { workspace, collection, number, sortOrder } = version
  const isAwaited = sql`exists (select from awaited_product where workspace_id = ${workspace} and product_id = id)`
  return sql<MembershipDifference[]>`
    with stored as (
      select product_id as id, position, tie_breaker, sort_key, is_available from collection_member where version_number = ${number}
    ),
    evaluated as (
      select id, name, created_at, stock, status from product join membership_version on number = ${number}
      where product.workspace_id = ${workspace} and ${coversProduct(sql, sql`id`)}
        and ${rules?.toSql(sql) ?? sql`true`}
    ),
    compared as (
      select id, stored.sort_key, stored.is_available::text as available,
        stored.position is not null as is_stored, status is not null as is_expected,
        sort_key(${sortOrder}, name, created_at, stock, coalesce(position, 0), coalesce(tie_breaker, 0)) as expected_key,
        (status = 'ACTIVE')::text as expected_available
      from stored ${rules ? sql`full join` : sql`left join`} evaluated using (id)
    )
    select ${workspace}::uuid as workspace, ${collection}::uuid as collection, kind, id as product, found.stored, found.expected
    from compared cross join lateral (values
      ('missing', not is_stored, null, null),
      ('surplus', not is_expected and not ${rules ? sql`false` : isAwaited}, null, null),
      ('place', is_stored and is_expected and sort_key <> expected_key, sort_key, expected_key),
      ('availability', is_stored and is_expected and available <> expected_available, available, expected_available)
    ) as found (kind, is_found, stored, expected)
    where is_found`
}

const countDifferences = (sql: AnySql) => sql<MembershipDifference[]>`
  with maintained as (
    select workspace_id, version_number as number, sum(available) as available from collection_member_count
    group by 1, 2
  ),
  counted as (
    select workspace_id, version_number as number, count(*) filter (where is_available) as available
    from collection_member group by 1, 2
  )
  select workspace_id as workspace, collection_id as collection,
    case when state is null then 'orphaned' else 'count' end as kind,
    coalesce(maintained.available, 0)::text as stored, coalesce(counted.available, 0)::text as expected
  from maintained full join counted using (workspace_id, number)
  left join membership_version using (workspace_id, number)
  where state is null or coalesce(maintained.available, 0) <> coalesce(counted.available, 0)`

const versionDifferences = (sql: AnySql) => sql<MembershipDifference[]>`
  select collection.workspace_id as workspace, id as collection, 'outdated' as kind
  from collection left join membership_version as version
    on version.workspace_id = collection.workspace_id and collection_id = id and state = 'CURRENT'
  where not exists (
      select from membership_version as next
      where next.workspace_id = collection.workspace_id and next.collection_id = id and next.state = 'BUILDING'
    )
    and (version.sort_order, source, case source when 'RULES' then version.rules::jsonb end) is distinct from (
      collection.sort_order, case membership_type when 'SMART' then 'RULES' else 'HAND_PICKED' end,
      case membership_type when 'SMART' then collection.rules::jsonb end
    )
  union all
  select workspace_id, collection_id, 'orphaned' from membership_version
  where state <> 'RETIRED' and not exists (
    select from collection where collection.workspace_id = membership_version.workspace_id and id = collection_id
  )`

/** Reports the differences between stored and evaluated memberships. Changes of products that are queued are none. */
export const checkMembers: Check = {
  run: ({ sql, report }) =>
    inTransaction(sql, async (tx) => {
      await tx`set transaction isolation level repeatable read, read only`
      for await (const difference of membershipDifferences(tx)) report(difference)
      const [checked] = await tx<[{ memberships: number; members: number; queued: number }]>`
        select (select count(*) from membership_version where state = 'CURRENT')::integer as memberships,
          (select count(*) from collection_member)::integer as members,
          (select count(*) from queued_product)::integer as queued`
      return { ...checked }
    }),
}
