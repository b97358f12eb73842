import { isId } from '@backoffice/contracts/fields.ts'
import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { lockMembershipsExclusive } from '../memberships/membership-lock.ts'
import { deleteProducts } from './delete-products.ts'
import type { ProjectionRow } from './product-state.ts'
import type { UnreadableRecord } from './read-states.ts'
import { ruleColumns } from './write-products.ts'

const BATCH_SIZE = 500

/** `topic_product` has a row per record of the topic, `ahead_product` products that are newer in the projection. */
export async function createRebuildTables(sql: Sql): Promise<Date> {
  await sql`create temporary table topic_product (id uuid not null, version bigint)`
  await sql`create temporary table ahead_product (id uuid primary key)`
  const [row] = await sql<[{ now: Date }]>`select now()`
  return row.now
}

/** Adds records to `topic_product`; the version of an unreadable record is null. */
export const insertTopicProducts = (
  sql: AnySql,
  products: readonly ProjectionRow[],
  unreadable: readonly UnreadableRecord[],
) => {
  const keys = unreadable.map(({ key }) => key ?? '').filter(isId)
  return sql`
    insert into topic_product select * from unnest(
      ${[...products.map(({ id }) => id), ...keys]}::uuid[],
      ${[...products.map(({ version }) => version), ...keys.map(() => null)]}::bigint[]
    )`
}

/** Whether `known` needs no update by `state`. One in `ahead_product` does, until the rebuild has written it. */
export const isUpToDate = (sql: AnySql, startedAt: Date) => sql`(
  known.version = state.version and ${ruleColumns(sql, 'known')} is not distinct from ${ruleColumns(sql, 'state')}
    and known.body::text = state.body::text
  or known.version > state.version
    and not (known.projected_at < ${startedAt} and exists (select from ahead_product where ahead_product.id = known.id))
)`

/**
 * Skips products with an unreadable record. Returns how many it found. `bool_or` and not a comparison of two counts:
 * the planner expects few rows of that and chooses nested loops.
 */
export async function findAheadProducts(sql: Sql, startedAt: Date): Promise<number> {
  await sql`create index on topic_product (id)`
  await sql`analyze topic_product`
  const { count } = await sql`
    insert into ahead_product
    select product.id from product join (
      select id, max(version) as version from topic_product group by id having not bool_or(version is null)
    ) as latest on latest.id = product.id and latest.version < product.version
    where projected_at < ${startedAt}`
  return count
}

/** Deletes products that are not in the topic and were not written since the rebuild started. Returns how many. */
export async function deleteStaleProducts(sql: Sql, startedAt: Date): Promise<number> {
  await sql`
    create temporary table stale_product as
    select workspace_id, id, ((row_number() over (partition by workspace_id order by id) - 1) / ${BATCH_SIZE})::integer as batch
    from product
    where projected_at < ${startedAt} and not exists (select from topic_product where topic_product.id = product.id)`
  const batches = await sql<{ workspaceId: string; batch: number }[]>`
    select distinct workspace_id as "workspaceId", batch from stale_product`
  let deleted = 0
  for (const { workspaceId, batch } of batches) {
    deleted += await inTransaction(sql, async (tx) => {
      await lockMembershipsExclusive(tx, workspaceId)
      const staleProducts = await tx<{ id: string }[]>`
        select id from stale_product where workspace_id = ${workspaceId} and batch = ${batch}`
      const ids = staleProducts.map(({ id }) => id)
      return deleteProducts(tx, ids, tx`projected_at < ${startedAt}`)
    })
  }
  return deleted
}
