import type { AnySql } from '@backoffice/postgres/database.ts'
import type { ChangedProduct } from '../members/plan-settlement.ts'
import type { Fragment } from '../rules/predicate.ts'
import type { ProjectedProduct } from './projected-product.ts'

/**
 * Writes states of different products, but for those that are remembered as deleted and those of which `isEnough` says that the row
 * that is `known` is as good as the `state`. Returns the products that rules, orders or the storefront may see otherwise now.
 */
export async function writeProducts(
  sql: AnySql,
  products: readonly ProjectedProduct[],
  isEnough: Fragment,
): Promise<ChangedProduct[]> {
  if (products.length === 0) return []
  const written = await sql<{ id: string; isOther: boolean }[]>`
    insert into product (
      workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping,
      can_preorder, created_at, body
    )
    select state.*
    from ${statesFrom(sql, products)}
    where not exists (select from deleted_product where deleted_product.id = state.id)
      and not exists (
        select from product as known
        where known.workspace_id = state.workspace_id and known.id = state.id and ${isEnough}
      )
    order by state.workspace_id, state.id
    on conflict (workspace_id, id) do update set
      version = excluded.version, name = excluded.name, skus = excluded.skus, type = excluded.type, status = excluded.status,
      categories = excluded.categories, tags = excluded.tags, prices = excluded.prices, costs = excluded.costs,
      stock = excluded.stock, requires_shipping = excluded.requires_shipping, can_preorder = excluded.can_preorder,
      created_at = excluded.created_at, body = excluded.body, projected_at = now()
    returning new.id, ${askedOf(sql, 'old')} is distinct from ${askedOf(sql, 'new')} as "isOther"`
  const others = new Set(written.filter(({ isOther }) => isOther).map(({ id }) => id))
  return products.filter(({ id }) => others.has(id))
}

/** What is made of parts is told beside the rows, a line of text each, since parsing it within them takes three times as long. */
const statesFrom = (sql: AnySql, products: readonly ProjectedProduct[]) => sql`(
  select workspace_id, id, version, name, skus, type, status, categories::text[] as categories, tags::text[] as tags,
    prices::jsonb as prices, costs::jsonb as costs, stock, requires_shipping, can_preorder, created_at, body::json as body
  from rows from (
    json_to_recordset(${JSON.stringify(products.map(rowOf))}::text::json) as (
      workspace_id uuid, id uuid, version bigint, name text, skus text, type text, status text, stock bigint,
      requires_shipping boolean, can_preorder boolean, created_at timestamptz
    ),
    ${linesOf(sql, products, ({ asked }) => arrayOf(asked.categories))},
    ${linesOf(sql, products, ({ asked }) => arrayOf(asked.tags))},
    ${linesOf(sql, products, ({ asked }) => JSON.stringify(asked.prices))},
    ${linesOf(sql, products, ({ asked }) => JSON.stringify(asked.costs))},
    ${linesOf(sql, products, ({ body }) => body)}
  ) as told (
    workspace_id, id, version, name, skus, type, status, stock, requires_shipping, can_preorder, created_at, categories, tags,
    prices, costs, body
  )
) as state`

function rowOf({ workspaceId, id, version, asked }: ProjectedProduct) {
  const { categories: _categories, tags: _tags, prices: _prices, costs: _costs, ...plain } = asked
  return { workspace_id: workspaceId, id, version, ...plain }
}

/** Neither JSON nor folded texts have line breaks. */
const linesOf = (sql: AnySql, products: readonly ProjectedProduct[], textOf: (product: ProjectedProduct) => string) =>
  sql`string_to_table(${products.map(textOf).join('\n')}, E'\\n')`

/** An array as PostgreSQL reads it. It escapes quotes and backslashes as JSON does, and folded texts have nothing else to escape. */
const arrayOf = (texts: readonly string[]): string => `{${JSON.stringify(texts).slice(1, -1)}}`

/** What a row has for rules to ask for. */
export const askedOf = (sql: AnySql, row: string) => sql`(
  ${sql(row)}.name, ${sql(row)}.skus, ${sql(row)}.type, ${sql(row)}.status, ${sql(row)}.categories, ${sql(row)}.tags,
  ${sql(row)}.prices, ${sql(row)}.costs, ${sql(row)}.stock, ${sql(row)}.requires_shipping, ${sql(row)}.can_preorder,
  ${sql(row)}.created_at
)`
