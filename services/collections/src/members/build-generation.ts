import type { AnySql } from '@backoffice/postgres/database.ts'
import type { Fragment } from '../rules/predicate.ts'
import type { Rules } from '../rules/rules.ts'
import { insertPicked, insertRuled } from './insert-members.ts'
import { generationsChanged } from './rule-sets.ts'

/** Whose generation is built. */
export interface Building {
  readonly workspaceId: string
  readonly collectionId: string
}

interface Generation extends Building {
  number: number
  source: 'PICKED' | 'RULES'
  rules: Rules | null
  sortOrder: string
  /** The first product's id that is not looked at yet is greater. */
  builtTo: string
}

/** Less than every product's id. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * Puts the members of some more products, in the order of their ids, into a generation, under the membership lock; with the last of
 * them the generation becomes the one that is shown. Returns whether it has, or there was nothing to build. A chunk that is done
 * stays right: whoever changes products meanwhile puts those that it has looked at into the generation as well, and no others, which
 * is left to the chunk that looks at them. So nothing is there already that a chunk inserts.
 */
export async function buildChunk(sql: AnySql, building: Building, size: number): Promise<boolean> {
  const [generation] = await sql<Generation[]>`
    select workspace_id as "workspaceId", collection_id as "collectionId", number, source, rules,
      sort_order as "sortOrder", coalesce(built_to, ${BEFORE_ALL}) as "builtTo"
    from generation
    where workspace_id = ${building.workspaceId} and collection_id = ${building.collectionId} and state = 'BUILDING'`
  if (generation === undefined) return true
  const last =
    generation.source === 'RULES'
      ? await buildFromRules(sql, generation, size)
      : await buildFromPicks(sql, generation, size)
  if (last === undefined) await show(sql, generation)
  else await noteBuilt(sql, generation, last)
  return last === undefined
}

/**
 * Whether a generation takes a product's membership from those who change single products: one that is being built does up to where
 * it is, which the membership lock keeps where it is until they are done.
 */
export const isReached = (sql: AnySql, productId: Fragment) => sql`
  (generation.state <> 'BUILDING' or ${productId} <= generation.built_to)`

/** Returns the last product's id; undefined when no product is left. */
async function buildFromRules(sql: AnySql, generation: Generation, size: number): Promise<string | undefined> {
  const { workspaceId, rules, builtTo } = generation
  if (rules === null) return undefined
  const [last] = await sql<{ id: string }[]>`
    select id from product where workspace_id = ${workspaceId} and id > ${builtTo} order by id offset ${size - 1} limit 1`
  await insertRuled(sql, generation, rules, { after: builtTo, last: last?.id })
  return last?.id
}

/** As `buildFromRules`, from the hand-picked members there are, shown or kept. */
async function buildFromPicks(sql: AnySql, generation: Generation, size: number): Promise<string | undefined> {
  const { workspaceId, collectionId, builtTo } = generation
  const [picks] = await sql<{ number: number }[]>`
    select number from generation
    where workspace_id = ${workspaceId} and collection_id = ${collectionId}
      and source = 'PICKED' and state in ('CURRENT', 'KEPT')`
  if (picks === undefined) return undefined
  const [last] = await sql<{ id: string }[]>`
    select product_id as id from member
    where generation = ${picks.number} and product_id > ${builtTo}
    order by product_id offset ${size - 1} limit 1`
  await insertPicked(sql, generation, picks.number, { after: builtTo, last: last?.id })
  return last?.id
}

const noteBuilt = (sql: AnySql, { number }: Generation, last: string) => sql`
  update generation set built_to = ${last} where number = ${number}`

/** Hand-picked members are kept while rules take their place, and are not needed twice. */
async function show(sql: AnySql, { workspaceId, collectionId, number, source }: Generation): Promise<void> {
  await sql`
    update generation set state = case when source = 'PICKED' and ${source} = 'RULES' then 'KEPT' else 'OLD' end
    where workspace_id = ${workspaceId} and collection_id = ${collectionId}
      and (state = 'CURRENT' or state = 'KEPT' and ${source} = 'PICKED')`
  await sql`update generation set state = 'CURRENT', built_to = null where number = ${number}`
  await generationsChanged(sql, workspaceId)
}
