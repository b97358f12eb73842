import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'
import { deleteMembersOf } from '../memberships/update-memberships.ts'

/** The workspaces of products, also of queued ones, by product: the record of a deletion names none. */
export async function workspaceOfEach(sql: AnySql, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; workspaceId: string }[]>`
    select id, workspace_id as "workspaceId" from product where id = any(${[...ids]}::uuid[])
    union
    select product_id, workspace_id from queued_product where product_id = any(${[...ids]}::uuid[])`
  return new Map(rows.map(({ id, workspaceId }) => [id, workspaceId]))
}

/**
 * Deletes products, and keeps late states from bringing them back. Needs the SHARED membership locks. Locks the
 * products that are `written` afterwards too: every transaction locks products in the order of their ids.
 */
export async function applyDeletions(sql: AnySql, ids: readonly string[], written: readonly { id: string }[]) {
  if (ids.length === 0) return
  const all = [...ids, ...written.map(({ id }) => id)]
  await sql`select from product where id = any(${all}::uuid[]) order by id for update`
  await addDeletedProducts(sql, ids)
  await deleteProducts(sql, ids)
}

/** Inserts products into `deleted_product`: from now on their states change nothing. */
export const addDeletedProducts = (sql: AnySql, ids: readonly string[]) => sql`
  insert into deleted_product (id) select id from unnest(${[...ids]}::uuid[]) as id order by id on conflict do nothing`

/** Deletes the products that meet a condition, and their members. Returns how many products. */
export async function deleteProducts(sql: AnySql, ids: readonly string[], condition = sql`true`): Promise<number> {
  const deleted = await sql<{ workspaceId: string; id: string }[]>`
    delete from product where id = any(${[...ids]}::uuid[]) and ${condition} returning workspace_id as "workspaceId", id`
  await deleteMembersOf(sql, deleted)
  return deleted.length
}

const EVERY_MS = 60_000
const BATCH_SIZE = 10_000

/** After 90 days no older state can arrive: Kafka deletes those before the tombstone, and dead letters by then. */
export const expireDeletedProducts = (sql: Sql, logger: Logger) =>
  worker({
    name: 'deleted products',
    everyMs: EVERY_MS,
    logger,
    work: inBatches(BATCH_SIZE, () => expireBatch(sql)),
  })

/** Removes at most `BATCH_SIZE` products. Returns how many. */
export async function expireBatch(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from deleted_product where id = any(array(
      select id from deleted_product where deleted_at < now() - interval '90 days' order by deleted_at limit ${BATCH_SIZE}
    ))`
  return count
}
