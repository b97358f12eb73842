import type { AnySql } from '@backoffice/postgres/database.ts'
import type { ChangedProduct } from '../members/settle-products.ts'
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

/** Bodies are told apart from the rows, as lines, since JSON has no line breaks: a third of what it takes to parse them within. */
const statesFrom = (sql: AnySql, products: readonly ProjectedProduct[]) => sql`(
  select workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping,
    can_preorder, created_at, body::json as body
  from rows from (
    json_to_recordset(${JSON.stringify(products.map(rowOf))}::text::json) as (
      workspace_id uuid, id uuid, version bigint, name text, skus text, type text, status text, categories text[], tags text[],
      prices jsonb, costs jsonb, stock bigint, requires_shipping boolean, can_preorder boolean, created_at timestamptz
    ),
    string_to_table(${products.map(({ body }) => body).join('\n')}, E'\\n')
  ) as told (
    workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping, can_preorder,
    created_at, body
  )
) as state`

const rowOf = ({ workspaceId, id, version, asked }: ProjectedProduct) => ({
  workspace_id: workspaceId,
  id,
  version,
  ...asked,
})

/** What a row has for rules to ask for. */
export const askedOf = (sql: AnySql, row: string) => sql`(
  ${sql(row)}.name, ${sql(row)}.skus, ${sql(row)}.type, ${sql(row)}.status, ${sql(row)}.categories, ${sql(row)}.tags,
  ${sql(row)}.prices, ${sql(row)}.costs, ${sql(row)}.stock, ${sql(row)}.requires_shipping, ${sql(row)}.can_preorder,
  ${sql(row)}.created_at
)`
