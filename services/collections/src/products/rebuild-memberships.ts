import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { lockMembershipsExclusive } from '../memberships/membership-lock.ts'
import { raiseRuleVersion } from '../memberships/rule-sets.ts'

/** Starts a version for every collection, which the service builds. Needs `topic_product`. Returns their number. */
export async function rebuildMemberships(sql: Sql): Promise<number> {
  const workspaces = await sql<{ id: string }[]>`select distinct workspace_id as id from collection`
  let collections = 0
  for (const { id } of workspaces) {
    collections += await inTransaction(sql, async (tx) => {
      await lockMembershipsExclusive(tx, id)
      await deleteMembersWithoutProduct(tx, id)
      return startMembershipVersions(tx, id)
    })
  }
  return collections
}

/** Keeps the members of a product whose record is unreadable (`topic_product`), and of one whose state is to come. */
const deleteMembersWithoutProduct = (sql: AnySql, workspaceId: string) => sql`
  delete from collection_member as member using membership_version as version
  where version.workspace_id = ${workspaceId} and version.source = 'HAND_PICKED' and version.state <> 'RETIRED'
    and member.version_number = version.number
    and not exists (select from product where product.workspace_id = member.workspace_id and product.id = member.product_id)
    and not exists (select from topic_product where topic_product.id = member.product_id)
    and not exists (
      select from awaited_product as awaited
      where awaited.workspace_id = member.workspace_id and awaited.product_id = member.product_id
    )`

async function startMembershipVersions(sql: AnySql, workspaceId: string): Promise<number> {
  await sql`
    update membership_version set state = 'RETIRED', processed_to = null
    where workspace_id = ${workspaceId} and state = 'BUILDING'`
  const { count } = await sql`
    insert into membership_version (workspace_id, collection_id, source, rules, sort_order, state)
    select workspace_id, id, case membership_type when 'SMART' then 'RULES' else 'HAND_PICKED' end,
      case membership_type when 'SMART' then rules end, sort_order, 'BUILDING'
    from collection where workspace_id = ${workspaceId}`
  await raiseRuleVersion(sql, workspaceId)
  return count
}
