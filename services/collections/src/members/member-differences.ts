import type { AnySql } from '@backoffice/postgres/database.ts'
import { compileRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'

/** What is wrong with a membership. */
export type Wrong =
  | 'missing' // a product that the rules gather is no member
  | 'surplus' // a member that the rules do not gather, or whose product is not there
  | 'place' // a member that is not where the collection's order has it
  | 'availability' // a member that is counted and shown although its product is not, or the other way round
  | 'count' // not the number of the members that are shown
  | 'outdated' // what is shown is not what the collection asks for, and nothing else is being built
  | 'orphaned' // members, counts or a generation whose generation or collection is gone

/** A membership that is not as a fresh evaluation has it. */
export interface Difference {
  readonly workspace: string
  readonly collection: string
  readonly wrong: Wrong
  readonly product?: string | null
  readonly stored?: string | null
  readonly right?: string | null
}

interface Shown {
  workspace: string
  collection: string
  number: number
  source: 'PICKED' | 'RULES'
  rules: Rules | null
  sortOrder: string
}

/** Rows in memory at once. */
const BATCH = 1000
/** Generations in memory at once: the rules of one may be a megabyte. */
const GENERATIONS = 20

/**
 * Compares what is shown of every collection with a fresh evaluation: which products the rules gather, where each member is and whether
 * it is available, and the kept counts of all generations with those of their members. Give it a transaction that sees one
 * moment and all workspaces.
 */
export async function* memberDifferences(sql: AnySql): AsyncGenerator<Difference> {
  for (let shown = await shownAfter(sql, undefined); shown.length > 0; shown = await shownAfter(sql, shown.at(-1))) {
    for (const generation of shown) {
      for await (const found of differencesOf(sql, generation)) yield* found
    }
  }
  for await (const found of countDifferences(sql)) yield* found
  for await (const found of generationDifferences(sql)) yield* found
}

const shownAfter = (sql: AnySql, after: Shown | undefined) => sql<Shown[]>`
  select workspace_id as workspace, collection_id as collection, number, source, rules, sort_order as "sortOrder"
  from generation
  where state = 'CURRENT'
    ${after ? sql`and (workspace_id, collection_id) > (${after.workspace}, ${after.collection})` : sql``}
  order by workspace_id, collection_id limit ${GENERATIONS}`

/** Both sides come in the order of their keys, so that however many there are, PostgreSQL merges them as they come. */
function differencesOf(sql: AnySql, generation: Shown) {
  const { workspace, collection, number, source, rules, sortOrder } = generation
  const isRuled = source === 'RULES' && rules !== null
  return sql<Difference[]>`
    with stored as (
      select product_id as id, position, tie, sort_key, is_available from member
      where workspace_id = ${workspace} and collection_id = ${collection} and generation = ${number}
    ),
    gathered as (
      select id, name, created_at, stock, status from product
      where workspace_id = ${workspace} and ${isRuled ? compileRules(rules).condition(sql) : sql`true`}
    ),
    compared as (
      select id, stored.sort_key, stored.is_available::text as available, stored.position is not null as is_stored, status is not null as is_right,
        sort_key(${sortOrder}, name, created_at, stock, coalesce(position, 0), coalesce(tie, 0)) as right_key,
        (status = 'ACTIVE')::text as right_available
      from stored ${isRuled ? sql`full join` : sql`left join`} gathered using (id)
    )
    select ${workspace}::uuid as workspace, ${collection}::uuid as collection, wrong, id as product, found.stored, found.right
    from compared cross join lateral (values
      ('missing', not is_stored, null, null),
      ('surplus', not is_right, null, null),
      ('place', is_stored and is_right and sort_key <> right_key, sort_key, right_key),
      ('availability', is_stored and is_right and available <> right_available, available, right_available)
    ) as found (wrong, is_so, stored, "right")
    where is_so`.cursor(BATCH)
}

function countDifferences(sql: AnySql) {
  return sql<Difference[]>`
    with kept as (
      select workspace_id, collection_id, generation as number, sum(available) as available from member_count group by 1, 2, 3
    ),
    counted as (
      select workspace_id, collection_id, generation as number, count(*) filter (where is_available) as available
      from member group by 1, 2, 3
    )
    select workspace_id as workspace, collection_id as collection,
      case when generation.state is null then 'orphaned' else 'count' end as wrong,
      coalesce(kept.available, 0)::text as stored, coalesce(counted.available, 0)::text as "right"
    from kept full join counted using (workspace_id, collection_id, number)
    left join generation using (workspace_id, collection_id, number)
    where generation.state is null or coalesce(kept.available, 0) <> coalesce(counted.available, 0)`.cursor(BATCH)
}

function generationDifferences(sql: AnySql) {
  return sql<Difference[]>`
    select collection.workspace_id as workspace, id as collection, 'outdated' as wrong
    from collection left join generation
      on generation.workspace_id = collection.workspace_id and collection_id = id and state = 'CURRENT'
    where not exists (
        select from generation as next
        where next.workspace_id = collection.workspace_id and next.collection_id = id and next.state = 'BUILDING'
      )
      and (generation.sort_order, source, case source when 'RULES' then generation.rules::jsonb end) is distinct from (
        collection.sort_order, case membership_type when 'SMART' then 'RULES' else 'PICKED' end,
        case membership_type when 'SMART' then collection.rules::jsonb end
      )
    union all
    select workspace_id, collection_id, 'orphaned' from generation
    where state <> 'OLD' and not exists (
      select from collection where collection.workspace_id = generation.workspace_id and id = collection_id
    )`.cursor(BATCH)
}
