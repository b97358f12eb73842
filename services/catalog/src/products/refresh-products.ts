import type { Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { productStateRecord, productUpdated } from './product-records.ts'
import { lockProducts, readProducts } from './read-products.ts'

/**
 * Asks, in the transaction of a change, that these products' new state be published soon: for changes that touch many
 * products or are too frequent to build each product's body on the way. Several requests for one product may become one
 * event. With `isChange`, the products themselves change and product.updated fires; else only projections are told.
 */
export const requestRefresh = (tx: Transaction, productIds: readonly string[], isChange: boolean) => tx`
  insert into product_refresh (workspace_id, product_id, is_change, livemode, traceparent)
  select ${tx.context.workspaceId}, product_id, ${isChange}, ${tx.context.livemode}, ${tx.context.traceparent}
  from unnest(${productIds as string[]}::uuid[]) as product_id`

const EVERY_MS = 100
/** How many times as long as it worked the worker rests. */
const RESTS = 2
/** Requests settled in one transaction: what a transaction costs by itself is shared by so many. */
const CHUNK = 200
/** Products read and published at once: one with 2,048 variants is half a megabyte. */
const SLICE = 50

/**
 * Publishes the state of products that wait for it, workspace by workspace in turn. `worker` connects as the worker role and
 * finds the workspaces; the work itself is done inside each. Replicas share it, and rest twice as long as they work: those who
 * wait for answers come first.
 */
export function refreshProducts({ db, worker: workerDb, logger }: { db: Database; worker: Database; logger: Logger }) {
  let last: string | undefined
  return worker({
    name: 'product refresh',
    everyMs: EVERY_MS,
    logger,
    work: async () => {
      const startedAt = performance.now()
      const next = await nextWorkspace(workerDb, last)
      last = next?.workspaceId
      if (next === undefined) return
      const refreshed = await db.inWorkspace(next, (tx) => refreshChunk(tx, new Date()))
      return refreshed > 0 ? RESTS * (performance.now() - startedAt) : 0
    },
  })
}

/** The workspace after `last` that has products waiting; undefined after the last one, and then the first comes again. */
async function nextWorkspace(worker: Database, last: string | undefined): Promise<WorkspaceContext | undefined> {
  const [next] = await worker.sql<{ workspace_id: string; livemode: boolean; traceparent: string }[]>`
    select workspace_id, livemode, traceparent from product_refresh
    where workspace_id > ${last ?? '00000000-0000-0000-0000-000000000000'}
    order by workspace_id, id limit 1`
  if (next === undefined) return undefined
  const { workspace_id: workspaceId, ...rest } = next
  return { workspaceId, actor: 'product refresh', ...rest }
}

/**
 * Publishes the state of some waiting products of one workspace and returns how many requests that settles. Half are the
 * newest, so that a sale is told soon while the million products of a renamed category wait.
 */
export async function refreshChunk(tx: Transaction, now: Date): Promise<number> {
  const waiting = await tx<{ product_id: string; is_change: boolean }[]>`
    delete from product_refresh
    where workspace_id = ${tx.context.workspaceId} and id = any(array(
      select id from (
        select id from product_refresh where workspace_id = ${tx.context.workspaceId}
        order by id limit ${CHUNK / 2} for update skip locked
      ) as oldest
      union all
      select id from (
        select id from product_refresh where workspace_id = ${tx.context.workspaceId}
        order by id desc limit ${CHUNK / 2} for update skip locked
      ) as newest
    ))
    returning product_id, is_change`
  const changed = new Set(waiting.filter(({ is_change }) => is_change).map(({ product_id }) => product_id))
  const ids = await lockProducts(tx, [...new Set(waiting.map(({ product_id }) => product_id))])
  if (ids.length === 0) return waiting.length
  await tx`
    update product set
      version = version + 1,
      updated_at = case when id = any(${[...changed]}::uuid[]) then greatest(updated_at, ${now}) else updated_at end
    where workspace_id = ${tx.context.workspaceId} and id = any(${ids}::uuid[])`
  for (let first = 0; first < ids.length; first += SLICE) {
    const products = await readProducts(tx, ids.slice(first, first + SLICE))
    const records = products.flatMap((product): OutboxRecord[] =>
      changed.has(product.id) ? productUpdated(product) : [productStateRecord(product)],
    )
    await publish(tx, records, now)
  }
  return waiting.length
}
