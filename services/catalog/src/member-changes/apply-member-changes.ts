import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type WorkInTurn, workInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import { refreshRequests } from '../products/refresh-products.ts'
import { BATCH_SIZE, LINKED_TABLES, type Links, lockMembers, moveProducts, untagProducts } from './member-changes.ts'

const EVERY_MS = 100
/** A workspace with more refresh requests waits: a new one, such as of a sale, is published within seconds. */
const WAITING_REFRESHES = 1000

/** Makes the changes of all products of a category or tag in chunks (decision 017), one workspace after the other. */
export const applyMemberChanges = (options: Pick<WorkInTurn, 'db' | 'worker' | 'logger'>) =>
  workInTurn({
    ...options,
    name: 'member changes',
    everyMs: EVERY_MS,
    afterRoundMs: EVERY_MS,
    waiting: () => options.worker.sql`select workspace_id as "workspaceId", livemode, traceparent from member_change`,
    work: applyMemberChange,
  })

const MOST_CHANGES = 100

interface MemberChange {
  readonly id: number
  readonly kind: 'CATEGORY_SHOWN' | 'CATEGORY_DELETED' | 'TAG_DELETED'
  readonly of_id: string
  readonly reassign_to: string
  readonly reached: string | null
}

/**
 * Applies the workspace's oldest change to the next products. False when there is nothing to do now: other replicas
 * have it, its products are locked, or many refresh requests wait.
 */
export async function applyMemberChange(tx: Transaction): Promise<boolean> {
  const [change] = await oldestChange(
    tx,
    tx`not exists (
    select from product_refresh where workspace_id = ${tx.context.workspaceId} offset ${WAITING_REFRESHES} limit 1
  )`,
  )
  if (change === undefined) return false
  if (change.kind === 'CATEGORY_SHOWN') return requestRefreshes(tx, change)
  return emptyDeleted(tx, change, change.kind === 'TAG_DELETED' ? 'product_tag' : 'product_category')
}

const oldestChange = (tx: Transaction, condition: SqlPart) => tx<MemberChange[]>`
  select id, kind, of_id, reassign_to, reached from member_change
  where workspace_id = ${tx.context.workspaceId} and ${condition}
  order by id limit 1 for update skip locked`

/**
 * Requests the refresh of a category's next products, and goes on with others while these are few: an import may change
 * 500 small ones. Locks neither products nor categories.
 */
async function requestRefreshes(tx: Transaction, first: MemberChange): Promise<boolean> {
  let requests = 0
  let next: MemberChange | undefined = first
  for (let changes = 0; next !== undefined && changes < MOST_CHANGES; changes++) {
    requests += await requestRefresh(tx, next, BATCH_SIZE - requests)
    if (requests >= BATCH_SIZE) break
    next = (await oldestChange(tx, tx`kind = 'CATEGORY_SHOWN'`))[0]
  }
  return true
}

/** Requests the refresh of at most `limit` products. Those that join later have read the category's new state. */
async function requestRefresh(tx: Transaction, { id, of_id: category, reached }: MemberChange, limit: number) {
  const workspace = tx.context.workspaceId
  const [{ requests }] = await tx<[{ requests: number }]>`
    with requested as materialized (
      select product_id, false as is_change from product_category
      where workspace_id = ${workspace} and category_id = ${category}
        ${reached === null ? tx`` : tx`and product_id > ${reached}`}
      order by product_id limit ${limit}
    ), refresh as (
      ${refreshRequests(tx)}
    ), last as (
      select product_id from requested order by product_id offset ${limit - 1}
    ), ended as (
      delete from member_change where workspace_id = ${workspace} and id = ${id} and not exists (select from last)
    ), continued as (
      update member_change set reached = product_id from last where workspace_id = ${workspace} and id = ${id}
    )
    select count(*) as requests from requested`
  return requests
}

/**
 * Takes the next products out of a deleted category or tag; after the last, deletes it and the change. False while
 * others have locked its products. A product that joins at this moment violates its foreign key, and the transaction
 * runs again.
 */
async function emptyDeleted(tx: Transaction, { id, of_id: ofId, reassign_to: target }: MemberChange, links: Links) {
  const workspace = tx.context.workspaceId
  const products = await lockMembers(tx, links, ofId, true)
  if (products.length > 0) {
    await (links === 'product_tag' ? untagProducts(tx, products, ofId) : moveProducts(tx, products, ofId, target))
    return true
  }
  const { table, column } = LINKED_TABLES[links]
  await tx`
    delete from ${tx(table)} where workspace_id = ${workspace} and id = ${ofId} and not exists (
      select from ${tx(links)} where workspace_id = ${workspace} and ${tx(column)} = ${ofId}
    )`
  const { count } = await tx`
    delete from member_change where workspace_id = ${workspace} and id = ${id} and not exists (
      select from ${tx(table)} where workspace_id = ${workspace} and id = ${ofId}
    )`
  return count > 0
}
