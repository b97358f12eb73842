import type { AnySql } from '@backoffice/postgres/database.ts'
import type { Fragment } from '../rules/predicate.ts'
import type { RuleProduct } from '../rules/rule-product.ts'
import type { RuledGeneration, RuleSets } from './rule-sets.ts'

/** A product of which rules, orders or the storefront may see something else than before. */
export interface ChangedProduct {
  readonly workspaceId: string
  readonly id: string
  readonly asked: RuleProduct
}

/**
 * Puts changed products into the rule-driven generations whose rules they meet, takes them out of the others, and gives them their
 * new place and availability wherever they are members. Under the shared membership lock of their workspaces: no generation becomes
 * another meanwhile, and what is OLD is nobody's.
 */
export async function settleProducts(
  sql: AnySql,
  ruleSets: RuleSets,
  products: readonly ChangedProduct[],
): Promise<void> {
  const rules = await ruleSets.of(sql, [...new Set(products.map(({ workspaceId }) => workspaceId))])
  const changed = changedRows(sql, products)
  const met = metRows(sql, changed, meetings(products, rules))
  await takeOut(sql, changed, met)
  await place(sql, changed)
  await putIn(sql, met)
}

/** A million members may change with a few hundred products, so that pairs are told by numbers. */
interface Meetings {
  readonly generations: readonly RuledGeneration[]
  /** Places, from 1 on, among the products and among the generations. */
  readonly pairs: readonly { readonly product: number; readonly generation: number }[]
}

function meetings(
  products: readonly ChangedProduct[],
  rules: ReadonlyMap<string, readonly RuledGeneration[]>,
): Meetings {
  const places = new Map<RuledGeneration, number>()
  const pairs: Meetings['pairs'][number][] = []
  for (const [index, { workspaceId, asked }] of products.entries()) {
    for (const generation of rules.get(workspaceId) ?? []) {
      if (!generation.rules.matches(asked)) continue
      if (!places.has(generation)) places.set(generation, places.size + 1)
      pairs.push({ product: index + 1, generation: places.get(generation) ?? 0 })
    }
  }
  return { generations: [...places.keys()], pairs }
}

const changedRows = (sql: AnySql, products: readonly ChangedProduct[]) => sql`
  unnest(${products.map(({ workspaceId }) => workspaceId)}::uuid[], ${products.map(({ id }) => id)}::uuid[])
    with ordinality as changed (workspace_id, id, place)`

const metRows = (sql: AnySql, changed: Fragment, { generations, pairs }: Meetings) => sql`(
  select changed.workspace_id, collection_id, number as generation, changed.id as product_id
  from unnest(
    ${pairs.map(({ product }) => product)}::integer[], ${pairs.map(({ generation }) => generation)}::integer[]
  ) as pair (product, generation)
  join ${changed} on changed.place = pair.product
  join unnest(
    ${generations.map(({ collectionId }) => collectionId)}::uuid[], ${generations.map(({ number }) => number)}::integer[]
  ) with ordinality as ruled (collection_id, number, place) on ruled.place = pair.generation
)`

const takeOut = (sql: AnySql, changed: Fragment, met: Fragment) => sql`
  delete from member using ${changed}, generation
  where member.workspace_id = changed.workspace_id and member.product_id = changed.id
    and generation.workspace_id = member.workspace_id and generation.collection_id = member.collection_id
    and generation.number = member.generation and generation.source = 'RULES' and generation.state in ('BUILDING', 'CURRENT')
    and not exists (
      select from ${met} as met
      where met.collection_id = member.collection_id and met.generation = member.generation and met.product_id = member.product_id
    )`

/** Locks the members in one order, as all who change several. */
const place = (sql: AnySql, changed: Fragment) => sql`
  update member set sort_key = new.sort_key, is_available = new.is_available
  from (
    select member.workspace_id, member.collection_id, member.generation, member.product_id, now.*
    from ${changed}
    join product on product.workspace_id = changed.workspace_id and product.id = changed.id
    join member on member.workspace_id = product.workspace_id and member.product_id = product.id
    join generation on generation.workspace_id = member.workspace_id
      and generation.collection_id = member.collection_id and generation.number = member.generation
    cross join lateral (
      select sort_key(generation.sort_order, name, product.created_at, stock, position, tie) as sort_key, status = 'ACTIVE' as is_available
    ) as now
    where generation.state <> 'OLD' and (member.sort_key, member.is_available) <> (now.sort_key, now.is_available)
    order by member.workspace_id, member.collection_id, member.generation, member.product_id
    for update of member
  ) as new
  where member.workspace_id = new.workspace_id and member.collection_id = new.collection_id
    and member.generation = new.generation and member.product_id = new.product_id`

const putIn = (sql: AnySql, met: Fragment) => sql`
  insert into member (workspace_id, collection_id, generation, product_id, position, sort_key, is_available)
  select met.workspace_id, met.collection_id, met.generation, met.product_id, 0,
    sort_key(generation.sort_order, name, created_at, stock, 0, 0), status = 'ACTIVE'
  from ${met} as met
  join generation on generation.workspace_id = met.workspace_id
    and generation.collection_id = met.collection_id and generation.number = met.generation
  join product on product.workspace_id = met.workspace_id and product.id = met.product_id
  where not exists (
    select from member
    where member.workspace_id = met.workspace_id and member.collection_id = met.collection_id
      and member.generation = met.generation and member.product_id = met.product_id
  )`
