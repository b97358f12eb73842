import { isId } from '@backoffice/contracts/fields.ts'
import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { lockMembershipAlone } from '../members/membership-lock.ts'
import { deleteProducts } from './delete-products.ts'
import type { ProjectedProduct } from './projected-product.ts'
import type { Unreadable } from './read-states.ts'
import { askedOf } from './write-products.ts'

/** Products deleted in one transaction. */
const CHUNK = 500

/**
 * Makes room for the notes of a rebuild, in tables of its connection: what the topic has, and of what the projection has a later
 * version than the topic. Returns the database's time.
 */
export async function prepareRebuild(sql: Sql): Promise<Date> {
  await sql`create temporary table seen (id uuid not null, version bigint)`
  await sql`create temporary table ahead (id uuid primary key)`
  const [row] = await sql<[{ now: Date }]>`select now()`
  return row.now
}

/** Notes what the topic has; of what nobody can read no version. */
export const noteSeen = (sql: AnySql, products: readonly ProjectedProduct[], unreadable: readonly Unreadable[]) => {
  const keys = unreadable.map(({ key }) => key ?? '').filter(isId)
  return sql`
    insert into seen select * from unnest(
      ${[...products.map(({ id }) => id), ...keys]}::uuid[],
      ${[...products.map(({ version }) => version), ...keys.map(() => null)]}::bigint[]
    )`
}

/**
 * Whether a row that is known is as good as a state, or better: the same all over, or later. One that was ahead of the topic is not,
 * until it is written.
 */
export const isEnough = (sql: AnySql, startedAt: Date) => sql`(
  known.version = state.version and ${askedOf(sql, 'known')} is not distinct from ${askedOf(sql, 'state')}
    and known.body::text = state.body::text
  or known.version > state.version
    and not (known.projected_at < ${startedAt} and exists (select from ahead where ahead.id = known.id))
)`

/**
 * Finds out which rows have a later version than all that the topic has and the service has not written meanwhile. Returns how many.
 * Unreadable ones are told by bool_or, of which the planner expects some: of two counts being equal hardly any, and looks all up.
 */
export async function findAhead(sql: Sql, startedAt: Date): Promise<number> {
  await sql`create index on seen (id)`
  await sql`analyze seen`
  const { count } = await sql`
    insert into ahead
    select product.id from product join (
      select id, max(version) as version from seen group by id having not bool_or(version is null)
    ) as told on told.id = product.id and told.version < product.version
    where projected_at < ${startedAt}`
  return count
}

/** Deletes the products that the topic does not have and that were not written meanwhile. Returns how many. */
export async function deleteGhosts(sql: Sql, startedAt: Date): Promise<number> {
  await sql`
    create temporary table ghost as
    select workspace_id, id, row_number() over (partition by workspace_id order by id) as place from product
    where projected_at < ${startedAt} and not exists (select from seen where seen.id = product.id)`
  const parts = await sql<{ workspaceId: string; part: number }[]>`
    select distinct workspace_id as "workspaceId", ((place - 1) / ${CHUNK})::integer as part from ghost`
  let deleted = 0
  for (const { workspaceId, part } of parts) {
    deleted += await inTransaction(sql, async (tx) => {
      await lockMembershipAlone(tx, workspaceId)
      const ghosts = await tx<{ id: string }[]>`
        select id from ghost
        where workspace_id = ${workspaceId} and place > ${part * CHUNK} and place <= ${(part + 1) * CHUNK}`
      return deleteProducts(
        tx,
        ghosts.map(({ id }) => id),
        tx`projected_at < ${startedAt}`,
      )
    })
  }
  return deleted
}
