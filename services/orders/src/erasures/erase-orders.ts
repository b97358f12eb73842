import { ORDER } from '@backoffice/contracts/order.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

const BATCH_SIZE = 500

/**
 * Removes the personal data of some orders of an erased customer: personal members, the stored form, and last the
 * customer's id, by which they are found. Money and lines stay. Orders that a request has locked come later. Once there
 * is none left, the stage of the erasure is ANSWERS. Returns false when all that is left is locked.
 */
export async function eraseOrders(tx: Transaction, customer: string, now: Date): Promise<boolean> {
  const workspace = tx.context.workspaceId
  // A request reads its order after it has locked it, so it never writes back what is removed here.
  const locked = await tx<{ id: string }[]>`
    select id from sales_order where workspace_id = ${workspace} and customer_id = ${customer}
    order by id limit ${BATCH_SIZE} for update skip locked`
  if (locked.length > 0) {
    const ids = locked.map(({ id }) => id)
    await tx`update order_form set form = '{}' where workspace_id = ${workspace} and order_id = any(${ids}::uuid[])`
    // The time of this statement: answers of transactions that had the lock before are older.
    await tx`
      update sales_order set
        ${tx.unsafe(ORDER.sql.erasures)}, customer_id = null, erased_at = clock_timestamp(),
        updated_at = greatest(updated_at, ${now})
      where workspace_id = ${workspace} and id = any(${ids}::uuid[])`
    return true
  }
  const { count } = await tx`
    update customer_erasure set stage = 'ANSWERS'
    where workspace_id = ${workspace} and id = ${customer}
      and not exists (select from sales_order where workspace_id = ${workspace} and customer_id = ${customer})`
  return count > 0
}
