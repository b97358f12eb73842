import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { lockMembershipAlone } from '../members/membership-lock.ts'
import { generationsChanged } from '../members/rule-sets.ts'

/**
 * Gives every collection a new generation, which the service builds; what is shown stays until then. `seen` are the products that are
 * there or could not be read: other products are no picks. Returns how many collections there are.
 */
export async function renewCollections(sql: Sql): Promise<number> {
  const workspaces = await sql<{ id: string }[]>`select distinct workspace_id as id from collection`
  let renewed = 0
  for (const { id } of workspaces) {
    renewed += await inTransaction(sql, async (tx) => {
      await lockMembershipAlone(tx, id)
      await dropPicksOfNothing(tx, id)
      return startAll(tx, id)
    })
  }
  return renewed
}

/** A product may have been deleted while the projection did not know it: then its picks stayed. */
const dropPicksOfNothing = (sql: AnySql, workspaceId: string) => sql`
  delete from member using generation
  where generation.workspace_id = ${workspaceId} and generation.source = 'PICKED' and generation.state <> 'OLD'
    and member.generation = generation.number
    and not exists (select from product where product.workspace_id = member.workspace_id and product.id = member.product_id)
    and not exists (select from seen where seen.id = member.product_id)`

async function startAll(sql: AnySql, workspaceId: string): Promise<number> {
  await sql`
    update generation set state = 'OLD', built_to = null where workspace_id = ${workspaceId} and state = 'BUILDING'`
  const { count } = await sql`
    insert into generation (workspace_id, collection_id, source, rules, sort_order, state)
    select workspace_id, id, case membership_type when 'SMART' then 'RULES' else 'PICKED' end,
      case membership_type when 'SMART' then rules end, sort_order, 'BUILDING'
    from collection where workspace_id = ${workspaceId}`
  await generationsChanged(sql, workspaceId)
  return count
}
