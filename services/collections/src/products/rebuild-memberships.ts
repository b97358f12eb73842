import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { lockMembershipsExclusive } from '../memberships/membership-lock.ts'
import { startBuilding } from '../memberships/membership-versions.ts'
import { raiseRuleVersion } from '../memberships/rule-sets.ts'
import { deleteMembersWhere } from '../memberships/update-memberships.ts'

/** Starts a version for every collection, which the service builds. Needs `topic_product`. Returns their number. */
export async function rebuildMemberships(sql: Sql): Promise<number> {
  const workspaces = await sql<{ id: string }[]>`select distinct workspace_id as id from collection`
  let collections = 0
  for (const { id } of workspaces) {
    collections += await inTransaction(sql, async (tx) => {
      await lockMembershipsExclusive(tx, id)
      await deleteMembersWithoutProduct(tx, id)
      const started = await startBuilding(tx, id)
      await raiseRuleVersion(tx, id)
      return started
    })
  }
  return collections
}

/** Keeps the members of a product whose record is unreadable (`topic_product`), and of one whose state is to come. */
const deleteMembersWithoutProduct = (sql: AnySql, workspaceId: string) =>
  deleteMembersWhere(
    sql,
    sql`
      membership_version.workspace_id = ${workspaceId} and source = 'HAND_PICKED' and state <> 'RETIRED'
      and not exists (select from product where product.workspace_id = ${workspaceId} and product.id = product_id)
      and not exists (select from topic_product where topic_product.id = product_id)
      and not exists (
        select from awaited_product as awaited
        where awaited.workspace_id = ${workspaceId} and awaited.product_id = collection_member.product_id
      )`,
  )
