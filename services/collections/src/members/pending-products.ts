import type { Sql, Transaction } from '@backoffice/postgres/database.ts'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import { lockMembershipsShared } from '../memberships/membership-lock.ts'
import { deleteMembersWhere, updateOutdatedMembers } from '../memberships/update-memberships.ts'

const NAME = 'awaited products'
const EVERY_MS = 500
const BATCH_SIZE = 1000
/** The longest wait for the locks of a workspace: other workspaces come after it. */
const LOCK_TIMEOUT = '500ms'

/**
 * Notes products that were picked before their state arrived. The transaction that applies the state does not see them
 * yet, so `completePendingProducts` checks again after both commits. Noting again waits for a check under way.
 */
export const notePendingProducts = (tx: Transaction, products: readonly string[]) => tx`
  insert into awaited_product (workspace_id, product_id)
  select ${tx.context.workspaceId}, id from unnest(${[...products]}::uuid[]) as id order by id
  on conflict (workspace_id, product_id) do update set awaited_since = excluded.awaited_since`

/** Completes the members of products whose state or deletion has arrived. `sql` is of the worker role. */
export const completePendingProducts = (sql: Sql, logger: Logger) =>
  worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    work: async (stopping) => {
      const arrived = await findArrived(sql)
      for (const { workspaceId, ids } of arrived) {
        if (stopping.aborted) return
        await failsAlone(logger, NAME, { workspace_id: workspaceId }, () =>
          complete(sql, workspaceId, ids).catch((error: unknown) => {
            // No failure: an import of collections has the lock for longer. The next run tries again.
            if (!isLockTimeout(error)) throw error
          }),
        )
      }
    },
  })

/**
 * Pending products that the projection has or has deleted, by workspace: the oldest of each, as workspaces share a
 * batch. One whose locks are held for long does not fill it.
 */
const findArrived = (sql: Sql) => sql<{ workspaceId: string; ids: string[] }[]>`
  select workspace_id as "workspaceId", array_agg(product_id) as ids
  from (
    select workspace_id, product_id, row_number() over (partition by workspace_id order by awaited_since) as place
    from awaited_product as awaited
    where exists (select from product where product.workspace_id = awaited.workspace_id and product.id = product_id)
      or exists (select from deleted_product where deleted_product.id = product_id)
    order by place limit ${BATCH_SIZE}
  ) as arrived
  group by workspace_id`

/** Locks in the order of every transaction: memberships, products, pending products, members. */
const complete = (sql: Sql, workspaceId: string, ids: readonly string[]) =>
  inTransaction(sql, async (tx) => {
    await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
    await lockMembershipsShared(tx, [workspaceId])
    await tx`
      select from product where workspace_id = ${workspaceId} and id = any(${[...ids]}::uuid[]) order by id for share`
    const noted = tx`workspace_id = ${workspaceId} and product_id = any(${[...ids]}::uuid[])`
    await tx`select from awaited_product where ${noted} order by product_id for update`
    await updateOutdatedMembers(
      tx,
      ids.map((id) => ({ workspaceId, id })),
    )
    await deleteMembersWhere(
      tx,
      tx`
        membership_version.workspace_id = ${workspaceId} and state <> 'RETIRED' and product_id = any(${[...ids]}::uuid[])
        and not exists (select from product where product.workspace_id = ${workspaceId} and product.id = product_id)`,
    )
    await tx`delete from awaited_product where ${noted}`
  })
