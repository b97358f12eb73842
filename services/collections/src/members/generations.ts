import type { Transaction } from '@backoffice/postgres/database.ts'
import { asJson, type CollectionRecord } from '../collections/collection.ts'
import type { Rules } from '../rules/rules.ts'
import { BEFORE_ALL } from './build-generation.ts'
import { type Filled, insertPicked, insertRuled, type Stretch } from './insert-members.ts'
import { generationsChanged } from './rule-sets.ts'

/** Products looked at within the request that changes a membership; what is left is for the builder. */
const AT_ONCE = 5000

/**
 * Gives a collection a new generation of members, as its type, rules and order ask for, in the transaction that changes them; under
 * the membership lock, unless the collection is new and hand-picked. Where the workspace has few products it is shown with the
 * answer; else the builder goes on, and the generation before is shown until it is done. Returns the count that is shown.
 */
export async function startGeneration(tx: Transaction, collection: CollectionRecord): Promise<number> {
  const { id, membershipType, sortOrder, rules } = collection
  const before = membershipType === 'SMART' ? await beforeRules(tx, id) : await beforePicks(tx, id)
  const next = { workspaceId: tx.context.workspaceId, number: before.next, sortOrder }
  const stretch = { after: BEFORE_ALL, last: before.last ?? undefined }
  if (membershipType === 'SMART') await insertRuled(tx, next, rules as Rules, stretch)
  else if (before.picks !== null) await insertPicked(tx, next, before.picks, stretch)
  const count = await putInPlace(tx, next, collection, before, stretch)
  if (membershipType === 'SMART' || before.hasRules) await generationsChanged(tx, next.workspaceId)
  return count
}

/** What a collection had up to now. */
interface Before {
  /** The number of the next generation. */
  next: number
  shown: number | null
  /** The generation that has the hand-picked members, shown or kept. */
  picks: number | null
  hasRules: boolean
  /** The last product that is looked at within the request; null when that is all of them. */
  last: string | null
}

async function beforeRules(tx: Transaction, collectionId: string): Promise<Before> {
  const [before] = await tx<[Before]>`
    select ${generationsBefore(tx)},
      (select id from product where workspace_id = ${tx.context.workspaceId} order by id offset ${AT_ONCE - 1} limit 1) as last
    from generation where workspace_id = ${tx.context.workspaceId} and collection_id = ${collectionId}`
  return before
}

async function beforePicks(tx: Transaction, collectionId: string): Promise<Before> {
  const workspace = tx.context.workspaceId
  const [before] = await tx<[Before]>`
    with before as (
      select ${generationsBefore(tx)} from generation where workspace_id = ${workspace} and collection_id = ${collectionId}
    )
    select before.*, (
      select product_id from member
      where generation = picks
      order by product_id offset ${AT_ONCE - 1} limit 1
    ) as last
    from before`
  return before
}

const generationsBefore = (tx: Transaction) => tx`
  nextval('generation_number') as next, max(number) filter (where state = 'CURRENT') as shown,
  max(number) filter (where source = 'PICKED' and state in ('CURRENT', 'KEPT')) as picks,
  coalesce(bool_or(source = 'RULES' and state in ('CURRENT', 'BUILDING')), false) as "hasRules"`

/**
 * Writes the generation: as the one that is shown when all its members are there, else to be built from where the request has come
 * to. One that was being built is given up; hand-picked members are kept while rules take their place, and are not needed twice.
 * Returns the count that is shown.
 */
async function putInPlace(
  tx: Transaction,
  { workspaceId, number, sortOrder }: Filled,
  { id: collectionId, membershipType, rules }: CollectionRecord,
  { shown }: Before,
  { last }: Stretch,
): Promise<number> {
  const isSmart = membershipType === 'SMART'
  const isComplete = last === undefined
  const [row] = await tx<[{ count: number }]>`
    with retired as (
      update generation set
        state = case when state = 'CURRENT' and source = 'PICKED' and ${isSmart} then 'KEPT' else 'OLD' end, built_to = null
      where workspace_id = ${workspaceId} and collection_id = ${collectionId}
        and (state = 'BUILDING' or ${isComplete} and (state = 'CURRENT' or state = 'KEPT' and not ${isSmart}))
      returning number
    ),
    started as (
      insert into generation (workspace_id, collection_id, number, source, rules, sort_order, state, built_to)
      select ${workspaceId}, ${collectionId}, ${number}, ${isSmart ? 'RULES' : 'PICKED'},
        ${isSmart ? asJson(rules) : null}::text::json, ${sortOrder}, ${isComplete ? 'CURRENT' : 'BUILDING'}, ${last ?? null}
      from (select count(*) from retired) as made_room -- in the indexes by state
    )
    select coalesce(sum(available), 0)::bigint as count from member_count
    where generation = ${isComplete ? number : shown}`
  return row.count
}

/** Leaves a deleted collection's generations to the builder, who deletes their members. */
export async function retireGenerations(tx: Transaction, collectionId: string): Promise<void> {
  const { workspaceId } = tx.context
  await tx`
    update generation set state = 'OLD', built_to = null
    where workspace_id = ${workspaceId} and collection_id = ${collectionId} and state <> 'OLD'`
  await generationsChanged(tx, workspaceId)
}

/** The maintained count of a collection's storefront-available members. */
export async function countOf(tx: Transaction, collectionId: string): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    select coalesce(sum(available), 0)::bigint as count from generation join member_count on member_count.generation = number
    where generation.workspace_id = ${tx.context.workspaceId} and collection_id = ${collectionId} and state = 'CURRENT'`
  return row.count
}
