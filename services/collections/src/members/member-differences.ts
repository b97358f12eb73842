import type { AnySql } from '@backoffice/postgres/database.ts'
import { compileRules } from '../rules/compile.ts'
import type { Fragment } from '../rules/predicate.ts'
import type { Rules } from '../rules/rules.ts'
import { isReached } from './build-generation.ts'

/** What is wrong with a membership. */
export type Wrong =
  | 'missing' // a product that the rules gather is no member
  | 'surplus' // a member that the rules do not gather, whose product is not there, or that the builder has yet to come to
  | 'place' // a member that is not where the collection's order has it
  | 'availability' // a member that is counted and shown although its product is not, or the other way round
  | 'count' // not the number of the members that are shown
  | 'outdated' // what is shown is not what the collection asks for, and nothing else is being built
  | 'orphaned' // members, counts or a generation whose generation or collection is gone, or that have another's workspace

/** A membership that is not as a fresh evaluation has it. */
export interface Difference {
  readonly workspace: string
  /** Null of what no generation knows. */
  readonly collection: string | null
  readonly wrong: Wrong
  readonly product?: string | null
  readonly stored?: string | null
  readonly right?: string | null
}

interface Generation {
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
 * Compares what is shown, kept or being built of every collection, or of a workspace's, with a fresh evaluation: which products the
 * rules gather, where each member is and whether it is available, and the kept counts of all generations with those of their
 * members. Give it a transaction that sees one moment and all workspaces.
 */
export async function* memberDifferences(sql: AnySql, workspaceId?: string): AsyncGenerator<Difference> {
  // A generation may be younger than the planner's statistics, and comparing sets then would end in loops over both.
  await sql`set local enable_nestloop = off`
  const isOf = (table: string) => (workspaceId ? sql`${sql(table)}.workspace_id = ${workspaceId}` : sql`true`)
  const after = async (number: number) => sql<Generation[]>`
    select workspace_id as workspace, collection_id as collection, number, source, rules, sort_order as "sortOrder"
    from generation where number > ${number} and state <> 'OLD' and ${isOf('generation')}
    order by number limit ${GENERATIONS}`
  for (let some = await after(0); some.length > 0; some = await after(some.at(-1)?.number ?? 0)) {
    for (const generation of some) {
      for await (const found of differencesOf(sql, generation)) yield* found
    }
  }
  for await (const found of countDifferences(sql, isOf)) yield* found
  for await (const found of generationDifferences(sql, isOf)) yield* found
}

/** Both sides come in the order of their keys, so that however many there are, PostgreSQL merges them as they come. */
function differencesOf(sql: AnySql, generation: Generation) {
  const { workspace, collection, number, source, rules, sortOrder } = generation
  const isRuled = source === 'RULES' && rules !== null
  return sql<Difference[]>`
    with stored as (
      select product_id as id, position, tie, sort_key, is_available from member where generation = ${number}
    ),
    gathered as (
      select id, name, created_at, stock, status from product join generation on number = ${number}
      where product.workspace_id = ${workspace} and ${isReached(sql, sql`id`)}
        and ${isRuled ? compileRules(rules).condition(sql) : sql`true`}
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

type IsOf = (table: string) => Fragment

function countDifferences(sql: AnySql, isOf: IsOf) {
  return sql<Difference[]>`
    with kept as (
      select workspace_id, generation as number, sum(available) as available from member_count
      where ${isOf('member_count')} group by 1, 2
    ),
    counted as (
      select workspace_id, generation as number, count(*) filter (where is_available) as available
      from member where ${isOf('member')} group by 1, 2
    )
    select workspace_id as workspace, collection_id as collection,
      case when generation.state is null then 'orphaned' else 'count' end as wrong,
      coalesce(kept.available, 0)::text as stored, coalesce(counted.available, 0)::text as "right"
    from kept full join counted using (workspace_id, number)
    left join generation using (workspace_id, number)
    where generation.state is null or coalesce(kept.available, 0) <> coalesce(counted.available, 0)`.cursor(BATCH)
}

function generationDifferences(sql: AnySql, isOf: IsOf) {
  return sql<Difference[]>`
    select collection.workspace_id as workspace, id as collection, 'outdated' as wrong
    from collection left join generation
      on generation.workspace_id = collection.workspace_id and collection_id = id and state = 'CURRENT'
    where ${isOf('collection')}
      and not exists (
        select from generation as next
        where next.workspace_id = collection.workspace_id and next.collection_id = id and next.state = 'BUILDING'
      )
      and (generation.sort_order, source, case source when 'RULES' then generation.rules::jsonb end) is distinct from (
        collection.sort_order, case membership_type when 'SMART' then 'RULES' else 'PICKED' end,
        case membership_type when 'SMART' then collection.rules::jsonb end
      )
    union all
    select workspace_id, collection_id, 'orphaned' from generation
    where ${isOf('generation')} and state <> 'OLD' and not exists (
      select from collection where collection.workspace_id = generation.workspace_id and id = collection_id
    )`.cursor(BATCH)
}
