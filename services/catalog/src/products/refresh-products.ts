import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import { type OutboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { type WorkInTurn, workInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { eventAndState, productStateRecord } from './product-records.ts'
import { readProducts } from './read-products.ts'

/**
 * The part of a statement that requests a refresh of the products in its CTE `requested (product_id, is_change)`
 * (decision 017). With `is_change` product.updated fires; without it only the state for projections is published.
 */
export const refreshRequests = (tx: Transaction) => tx`
  insert into product_refresh (workspace_id, product_id, is_change, livemode, traceparent)
  select ${tx.context.workspaceId}, product_id, is_change, ${tx.context.livemode}, ${tx.context.traceparent}
  from requested order by product_id`

/**
 * Requests, in the transaction of a change, that the new state of these products is published soon (decision 017): for
 * changes that touch many products, or one product very often. Several requests for one product may become one event.
 * With `isChange` product.updated fires; without it only the state is published.
 */
export const requestRefresh = (tx: Transaction, productIds: readonly string[], isChange: boolean) => tx`
  with requested as (
    select product_id, ${isChange}::boolean as is_change from unnest(${productIds as string[]}::uuid[]) as product_id
  )
  ${refreshRequests(tx)}`

const EVERY_MS = 100
/** Requests handled in one transaction. */
const BATCH_SIZE = 200
/** A transaction that has so many variants takes no further product: requests wait for its products meanwhile. */
const MOST_VARIANTS = 10_000
/** Variants read and published together, or products with fewer: to make their records blocks the event loop. */
const PUBLISHED_TOGETHER = 2000

/** Publishes the state of waiting products, one workspace after the other. */
export const refreshProducts = (options: Pick<WorkInTurn, 'db' | 'worker' | 'logger'>) =>
  workInTurn({
    ...options,
    name: 'product refresh',
    everyMs: EVERY_MS,
    afterRoundMs: EVERY_MS,
    waiting: () => options.worker.sql`select workspace_id as "workspaceId", livemode, traceparent from product_refresh`,
    work: async (tx) => (await refreshChunk(tx, currentTime())) > 0,
  })

/**
 * Publishes the state of some waiting products of one workspace and returns the number of requests it handled. Requests
 * for products that another transaction has locked are kept.
 */
export async function refreshChunk(tx: Transaction, now: Date): Promise<number> {
  const { requests, products } = await takeRequests(tx)
  if (products.length === 0) return requests.length
  const ids = products.map(({ id }) => id)
  const changed = new Set(requests.filter(({ is_change }) => is_change).map(({ product_id }) => product_id))
  await tx`
    update product set
      version = version + 1,
      refreshes = refreshes + case when id = any(${[...changed]}::uuid[]) then 0 else 1 end,
      updated_at = case when id = any(${[...changed]}::uuid[]) then greatest(updated_at + interval '1 ms', ${now}) else updated_at end
    where workspace_id = ${tx.context.workspaceId} and id = any(${ids}::uuid[])`
  for (const part of partsOf(products, PUBLISHED_TOGETHER, ({ variants }) => variants)) {
    const read = await readProducts(
      tx,
      part.map(({ id }) => id),
    )
    const records = read.flatMap((product): OutboxRecord[] =>
      changed.has(product.id) ? eventAndState('product.updated', product) : [productStateRecord(product)],
    )
    await publish(tx, records, now)
  }
  return requests.length
}

interface Taken {
  readonly requests: { product_id: string; is_change: boolean }[]
  /** The products of these requests that still exist, in the order of their ids, with the number of variants. */
  readonly products: { id: string; variants: number }[]
}

/**
 * Deletes waiting requests that no other replica has taken, and locks their products. Half of them are the newest, so
 * that a sale is published soon while the million products of a renamed category wait. Products keep their requests
 * when others have locked them, or when they are too many for a transaction. When others have locked all, it goes on
 * with later ones, so that no locked product delays another.
 */
async function takeRequests(tx: Transaction): Promise<Taken> {
  const workspace = tx.context.workspaceId
  const lockedByOthers: string[] = []
  for (;;) {
    const waiting = tx`
      select id, product_id, is_change from product_refresh
      where workspace_id = ${workspace} and product_id <> all(${lockedByOthers}::uuid[])`
    const [{ left, ...taken }] = await tx<[Taken & { left: string[] }]>`
      with waiting as materialized (
        select *, least(row_number() over (order by id), row_number() over (order by id desc)) as turn
        from (
          select * from (${waiting} order by id limit ${BATCH_SIZE / 2} for update skip locked) as oldest
          union
          select * from (${waiting} order by id desc limit ${BATCH_SIZE / 2} for update skip locked) as newest
        ) as chosen
      ), locked as materialized (
        select id from product where workspace_id = ${workspace} and id = any(array(select product_id from waiting))
        order by id for no key update skip locked
      ), kept as materialized (
        select id from product where workspace_id = ${workspace} and id = any(array(select product_id from waiting))
          and id not in (select id from locked)
      ), counted as materialized (
        select id, (select min(turn) from waiting where product_id = locked.id) as turn, greatest(1, (
          select count(*) from variant where workspace_id = ${workspace} and product_id = locked.id
        )) as variants
        from locked
      ), fitting as materialized (
        select id, variants
        from (select *, sum(variants) over (order by turn, id) - variants as before from counted) as summed
        where before < ${MOST_VARIANTS}
      ), taken as (
        delete from product_refresh where workspace_id = ${workspace} and id = any(array(
          select id from waiting
          where product_id in (select id from fitting)
            or product_id not in (select id from locked union all select id from kept)
        ))
        returning product_id, is_change
      )
      select
        (select coalesce(json_agg(taken), '[]') from taken) as requests,
        (select coalesce(json_agg(fitting order by id), '[]') from fitting) as products,
        (select coalesce(json_agg(id), '[]') from kept) as left`
    if (taken.requests.length > 0 || left.length === 0) return taken
    lockedByOthers.push(...left)
  }
}

const waitingRequests = gauge(
  'catalog_refresh_requests',
  'Products whose new state is still to be published, counted up to ten thousand',
)
const oldestRequest = gauge(
  'catalog_oldest_refresh_seconds',
  'Age of the oldest of these requests, among the first ten thousand',
  's',
)

/** Measures the products whose changed state is not published to other services yet (decision 017). */
export const measureRefresh = (db: Database, logger: Logger) =>
  measureRows('refreshes', db, logger, async (tx) => {
    const [found] = await tx<[{ requests: number; seconds: number }]>`
      select count(*)::integer as requests, coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as seconds
      from (select requested_at from product_refresh order by workspace_id, id limit ${MEASURED_ROWS}) as waiting`
    waitingRequests.record(found.requests)
    oldestRequest.record(Math.max(0, found.seconds))
  })
