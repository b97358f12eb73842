import type { Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { refreshRequests } from '../refresh/refresh-requests.ts'
import { productStateRecord, productUpdated } from './product-records.ts'
import { lockProducts, readProducts } from './read-products.ts'

/**
 * Requests, in the transaction of a change, that the new state of these products is published soon (decision 017): for changes that
 * touch many products, or one product very often. Several requests for one product may become one event. With `isChange`
 * product.updated fires; without it only the state is published.
 */
export const requestRefresh = (tx: Transaction, productIds: readonly string[], isChange: boolean) => tx`
  with requested as (
    select product_id, ${isChange}::boolean as is_change from unnest(${productIds as string[]}::uuid[]) as product_id
  )
  ${refreshRequests(tx)}`

const EVERY_MS = 100
/** The worker pauses this many times as long as it worked. */
const PAUSE_FACTOR = 2
/** Requests handled in one transaction. */
const BATCH_SIZE = 200
/** Products read and published with one statement: one with 2,048 variants is half a megabyte. */
const PUBLISHED_TOGETHER = 50

/**
 * Publishes the state of waiting products, one workspace after the other. `worker` connects as the worker role and finds the
 * workspaces; `db` works inside each. Replicas share the work. They pause twice as long as they work, so that requests of clients
 * come first.
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
      return refreshed > 0 ? PAUSE_FACTOR * (performance.now() - startedAt) : 0
    },
  })
}

/** The next workspace after `last` with waiting products; undefined after the last one, and the caller starts again. */
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
 * Publishes the state of some waiting products of one workspace and returns the number of requests it handled. Half of them are the
 * newest, so that a sale is published soon while the million products of a renamed category wait.
 */
export async function refreshChunk(tx: Transaction, now: Date): Promise<number> {
  const waiting = await tx<{ product_id: string; is_change: boolean }[]>`
    delete from product_refresh
    where workspace_id = ${tx.context.workspaceId} and id = any(array(
      select id from (
        select id from product_refresh where workspace_id = ${tx.context.workspaceId}
        order by id limit ${BATCH_SIZE / 2} for update skip locked
      ) as oldest
      union all
      select id from (
        select id from product_refresh where workspace_id = ${tx.context.workspaceId}
        order by id desc limit ${BATCH_SIZE / 2} for update skip locked
      ) as newest
    ))
    returning product_id, is_change`
  const changed = new Set(waiting.filter(({ is_change }) => is_change).map(({ product_id }) => product_id))
  const ids = await lockProducts(tx, [...new Set(waiting.map(({ product_id }) => product_id))])
  if (ids.length === 0) return waiting.length
  await tx`
    update product set
      version = version + 1,
      refreshes = refreshes + case when id = any(${[...changed]}::uuid[]) then 0 else 1 end,
      updated_at = case when id = any(${[...changed]}::uuid[]) then greatest(updated_at, ${now}) else updated_at end
    where workspace_id = ${tx.context.workspaceId} and id = any(${ids}::uuid[])`
  for (let first = 0; first < ids.length; first += PUBLISHED_TOGETHER) {
    const products = await readProducts(tx, ids.slice(first, first + PUBLISHED_TOGETHER))
    const records = products.flatMap((product): OutboxRecord[] =>
      changed.has(product.id) ? productUpdated(product) : [productStateRecord(product)],
    )
    await publish(tx, records, now)
  }
  return waiting.length
}
