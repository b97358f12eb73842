import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import type { RuleSets } from '../memberships/rule-sets.ts'
import { updateMemberships } from '../memberships/update-memberships.ts'
import { applyDeletions } from './delete-products.ts'
import { type ProjectionRow, projectionRowOf, type StateRecord } from './product-state.ts'

export interface ProductChange {
  readonly workspaceId: string
  readonly id: string
  readonly state: StateRecord
}

/**
 * Writes changes of different products and updates memberships. Older states, and those of deleted products, change
 * nothing. Needs the locks of the partition, then of the workspaces' memberships SHARED.
 */
export async function applyProducts(
  sql: AnySql,
  ruleSets: RuleSets,
  changes: readonly Pick<ProductChange, 'id' | 'state'>[],
): Promise<void> {
  const products = changes.flatMap(({ state }) => (state ? [projectionRowOf(state)] : []))
  const deleted = changes.filter(({ state }) => state === null).map(({ id }) => id)
  await applyDeletions(sql, deleted, products)
  const changed = await writeProducts(sql, products, sql`known.version >= state.version`)
  if (changed.length > 0) await updateMemberships(sql, ruleSets, changed)
}

/**
 * Locks a partition's products against another consumer, the queue's worker or a rebuild. Later locks wait for
 * `lockTimeoutMs`; 0 is without limit. Do not wait for a membership lock while you hold this one.
 */
export const lockPartition = (sql: AnySql, partition: number, lockTimeoutMs = 0) => sql`
  select pg_advisory_xact_lock(${ADVISORY_LOCKS.productPartition}::integer, ${partition}::integer),
    set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`

/** Locks the products of a partition; returns false when the lock is not free. */
export async function tryLockPartition(sql: AnySql, partition: number): Promise<boolean> {
  const [row] = await sql<[{ isLocked: boolean }]>`
    select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.productPartition}::integer, ${partition}::integer) as "isLocked"`
  return row.isLocked
}

/**
 * Writes rows of different products, but deleted ones and those for which `isUpToDate` holds on the `known` row and the
 * `state`. Returns those with a change that may concern rules, orders or the storefront. Both conditions are subqueries
 * that give a value: as `not exists`, PostgreSQL joins the rows with whole tables.
 */
export async function writeProducts(sql: AnySql, products: readonly ProjectionRow[], isUpToDate: SqlPart) {
  if (products.length === 0) return []
  const written = await sql<{ id: string; isChanged: boolean }[]>`
    insert into product (
      workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping,
      can_preorder, created_at, body
    )
    select state.*
    from ${statesFrom(sql, products)}
    where (select true from deleted_product where deleted_product.id = state.id) is null
      and (
        select ${isUpToDate} from product as known
        where known.workspace_id = state.workspace_id and known.id = state.id
      ) is not true
    order by state.workspace_id, state.id
    on conflict (workspace_id, id) do update set
      version = excluded.version, name = excluded.name, skus = excluded.skus, type = excluded.type, status = excluded.status,
      categories = excluded.categories, tags = excluded.tags, prices = excluded.prices, costs = excluded.costs,
      stock = excluded.stock, requires_shipping = excluded.requires_shipping, can_preorder = excluded.can_preorder,
      created_at = excluded.created_at, body = excluded.body, projected_at = now()
    returning new.id, ${ruleColumns(sql, 'old')} is distinct from ${ruleColumns(sql, 'new')} as "isChanged"`
  const changed = new Set(written.filter(({ isChanged }) => isChanged).map(({ id }) => id))
  return products.filter(({ id }) => changed.has(id))
}

/** Arrays and JSON are sent beside the rows, a line each: within the rows, parsing takes three times as long. */
const statesFrom = (sql: AnySql, products: readonly ProjectionRow[]) => sql`(
  select workspace_id, id, version, name, skus, type, status, categories::text[] as categories, tags::text[] as tags,
    prices::jsonb as prices, costs::jsonb as costs, stock, requires_shipping, can_preorder, created_at, body::json as body
  from rows from (
    json_to_recordset(${JSON.stringify(products.map(rowOf))}::text::json) as (
      workspace_id uuid, id uuid, version bigint, name text, skus text, type text, status text, stock bigint,
      requires_shipping boolean, can_preorder boolean, created_at timestamptz
    ),
    ${linesOf(sql, products, ({ ruleFields }) => arrayOf(ruleFields.categories))},
    ${linesOf(sql, products, ({ ruleFields }) => arrayOf(ruleFields.tags))},
    ${linesOf(sql, products, ({ ruleFields }) => JSON.stringify(ruleFields.prices))},
    ${linesOf(sql, products, ({ ruleFields }) => JSON.stringify(ruleFields.costs))},
    ${linesOf(sql, products, ({ body }) => body)}
  ) as sent (
    workspace_id, id, version, name, skus, type, status, stock, requires_shipping, can_preorder, created_at, categories, tags,
    prices, costs, body
  )
) as state`

function rowOf({ workspaceId, id, version, ruleFields }: ProjectionRow) {
  const { categories: _categories, tags: _tags, prices: _prices, costs: _costs, ...plain } = ruleFields
  return { workspace_id: workspaceId, id, version, ...plain }
}

/** One line per product. Neither JSON nor folded texts contain line breaks. */
const linesOf = (sql: AnySql, products: readonly ProjectionRow[], textOf: (product: ProjectionRow) => string) =>
  sql`string_to_table(${products.map(textOf).join('\n')}, E'\\n')`

/** An array literal of PostgreSQL. It escapes as JSON does; folded texts contain nothing else to escape. */
const arrayOf = (texts: readonly string[]): string => `{${JSON.stringify(texts).slice(1, -1)}}`

/** The columns that rules read, and orders and the storefront with them. */
export const ruleColumns = (sql: AnySql, row: string) => sql`(
  ${sql(row)}.name, ${sql(row)}.skus, ${sql(row)}.type, ${sql(row)}.status, ${sql(row)}.categories, ${sql(row)}.tags,
  ${sql(row)}.prices, ${sql(row)}.costs, ${sql(row)}.stock, ${sql(row)}.requires_shipping, ${sql(row)}.can_preorder,
  ${sql(row)}.created_at
)`
