import type { AnySql } from '@backoffice/postgres/database.ts'
import { isReached } from './build-generation.ts'
import { type ChangedProduct, type MemberKey, type Membership, planSettlement } from './plan-settlement.ts'
import type { RuleSets } from './rule-sets.ts'

/**
 * Puts changed products into the rule-driven generations whose rules they meet, those that are being built only up to where the
 * builder is, takes them out of the others, and gives them their new place and availability wherever they are members. Under the
 * shared membership lock of their workspaces: no generation becomes another meanwhile, no builder goes on, and what is OLD is
 * nobody's. Each statement goes from a few keys to as many rows, since a generation may be younger than the planner's statistics,
 * and joins of sets then end in loops over both.
 */
export async function settleProducts(
  sql: AnySql,
  ruleSets: RuleSets,
  products: readonly ChangedProduct[],
): Promise<void> {
  const rules = await ruleSets.of(sql, [...new Set(products.map(({ workspaceId }) => workspaceId))])
  const { leaving, moving, joining } = planSettlement(products, rules, await membershipsOf(sql, products))
  if (leaving.length > 0) await takeOut(sql, leaving)
  if (moving.length > 0) await move(sql, moving)
  if (joining.length > 0) await putIn(sql, joining)
}

/** Each membership by its own product, and its generation and product by it: offset keeps the planner from joining sets here. */
const membershipsOf = (sql: AnySql, products: readonly ChangedProduct[]) => sql<Membership[]>`
  select member.workspace_id as "workspaceId", number, product_id as "productId", source = 'RULES' as "isRuled",
    (sort_key, is_available) <>
      (sort_key(sort_order, name, created_at, stock, position, tie), status = 'ACTIVE') as "isMoved"
  from unnest(${products.map(({ workspaceId }) => workspaceId)}::uuid[], ${products.map(({ id }) => id)}::uuid[])
    as changed (workspace_id, id)
  cross join lateral (
    select * from member where member.workspace_id = changed.workspace_id and product_id = changed.id offset 0
  ) as member
  cross join lateral (
    select number, source, sort_order from generation where number = member.generation and state <> 'OLD' offset 0
  ) as generation
  cross join lateral (
    select name, created_at, stock, status from product
    where product.workspace_id = changed.workspace_id and product.id = changed.id offset 0
  ) as product`

const keysOf = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  unnest(
    ${keys.map(({ workspaceId }) => workspaceId)}::uuid[], ${keys.map(({ number }) => number)}::bigint[],
    ${keys.map(({ productId }) => productId)}::uuid[]
  ) as key (workspace_id, generation, product_id)`

const isOf = (sql: AnySql, key: string) => sql`
  member.generation = ${sql(key)}.generation and member.product_id = ${sql(key)}.product_id`

const takeOut = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  delete from member using ${keysOf(sql, keys)} where ${isOf(sql, 'key')}`

/** Locks the members in one order, as all who change several, and looks at where they were put meanwhile. */
const move = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  update member set
    sort_key = sort_key(sort_order, name, product.created_at, stock, position, tie), is_available = status = 'ACTIVE'
  from (
    select key.* from ${keysOf(sql, keys)} join member on ${isOf(sql, 'key')}
    order by key.generation, key.product_id
    for update of member
  ) as locked
  join product on product.workspace_id = locked.workspace_id and product.id = locked.product_id
  join generation on generation.number = locked.generation
  where ${isOf(sql, 'locked')}`

const putIn = (sql: AnySql, keys: readonly MemberKey[]) => sql`
  insert into member (workspace_id, generation, product_id, position, sort_key, is_available)
  select key.workspace_id, key.generation, key.product_id, 0,
    sort_key(sort_order, name, created_at, stock, 0, 0), status = 'ACTIVE'
  from ${keysOf(sql, keys)}
  join generation on generation.number = key.generation and ${isReached(sql, sql`key.product_id`)}
  join product on product.workspace_id = key.workspace_id and product.id = key.product_id
  on conflict do nothing`
