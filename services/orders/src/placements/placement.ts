import { ApiError } from '@backoffice/contracts/errors.ts'
import type { AnySql, Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { earlierNow } from '@backoffice/postgres/database-clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { CatalogError } from '../catalog/catalog-refusal.ts'

/** Seconds until a worker may try: the request that noted it mostly ends before. The lock of the order decides. */
export const ATTEMPT_S = 15
/** Seconds between attempts: twice as many after each. */
const [FIRST_PAUSE_S, LONGEST_PAUSE_S] = [5, 600]
/** Seconds until short stock is looked for again: an attempt that was under way is released by then (OP-136). */
const SHORT_PAUSE_S = 20

/** Whether it is due. No pause is that long: what lies further ahead is of a time when the clock was wrong (OP-302). */
export const isDue = (sql: AnySql) => sql`next_attempt_at not between now() and now() + interval '11 minutes'`

const ended = counter('orders_placement_attempts', 'Attempts to place paid orders, by what became of them')

/** Catalog has consumed a release of this age, in hours. As many older ones at most are forgotten at a time. */
const [FORGOTTEN_AFTER_H, FORGOTTEN_TOGETHER] = [24, 100]

/** Thrown instead of placing an order whose payments were refunded meanwhile. */
export class NoLongerPaid extends Error {}

/** Notes, in the transaction in which an order at CART becomes PAID, that it is to be placed. */
export const notePlacement = (tx: Transaction, order: string) => tx`
  insert into placement (workspace_id, order_id, livemode, next_attempt_at, created_at)
  values (
    ${tx.context.workspaceId}, ${order}, ${tx.context.livemode}, now() + make_interval(secs => ${ATTEMPT_S}), now()
  )
  on conflict do nothing`

/** Notes that it is to be tried anew: what it was refused for may have changed. */
export const retryPlacement = (tx: Transaction, order: string) => tx`
  update placement set
    next_attempt_at = now() + make_interval(secs => ${ATTEMPT_S}), reason = null, short_since = null
  where workspace_id = ${tx.context.workspaceId} and order_id = ${order}`

/**
 * Notes the reservations of failed attempts to place an order, as they are released: catalog may hold them for longer.
 * An order that was not created has no other attempt. Those that no other attempt came for are forgotten in the end.
 */
export const noteReleased = (
  tx: Transaction,
  released: readonly { readonly id: string; readonly order: string }[],
) => tx`
  with old as (
    select order_id, id from released_attempt
    where workspace_id = ${tx.context.workspaceId}
      and released_at < ${earlierNow(tx)} - make_interval(hours => ${FORGOTTEN_AFTER_H})
    order by released_at limit ${FORGOTTEN_TOGETHER} for update skip locked
  ), forgotten as (
    delete from released_attempt
    where workspace_id = ${tx.context.workspaceId} and (order_id, id) in (select order_id, id from old)
  )
  insert into released_attempt (workspace_id, order_id, id)
  select ${tx.context.workspaceId}, order_id, given.id
  from unnest(
    ${released.map(({ id }) => id)}::uuid[], ${released.map(({ order }) => order)}::uuid[]
  ) as given (id, order_id)
  where exists (
    select from sales_order
    where sales_order.workspace_id = ${tx.context.workspaceId} and sales_order.id = given.order_id
  )`

/** Forgets those that catalog has given back. */
export const forgetReleased = (tx: Transaction, order: string, ids: readonly string[]) => tx`
  delete from released_attempt
  where workspace_id = ${tx.context.workspaceId} and order_id = ${order} and id = any(${ids as string[]}::uuid[])`

/** Forgets it, in the transaction in which the order leaves CART, or is refunded (OP-204). */
export const endPlacement = (tx: Transaction, order: string) => tx`
  delete from placement where workspace_id = ${tx.context.workspaceId} and order_id = ${order}`

/**
 * Places a paid order by `place`, which ends its placement. When that fails, the placement is tried again later, unless
 * it was refused: then it is left to the merchant (OP-47). Short stock is refused for good the second time, since an
 * attempt at any order may give back what it holds. Does not throw: a placement whose failure cannot be written down
 * either is due again as it stands.
 */
export async function tryPlacement(
  { db, logger }: { readonly db: Database; readonly logger: Logger },
  context: WorkspaceContext,
  order: string,
  place: () => Promise<unknown>,
): Promise<void> {
  const note = (outcome: string, error?: unknown) => {
    ended.add(1, { outcome })
    if (error === undefined) return
    const logged = { err: error, workspace_id: context.workspaceId, order_id: order, outcome }
    logger.warn(logged, 'a paid order was not placed')
  }
  try {
    await place()
    note('placed')
  } catch (error) {
    // The refund has deleted the row. One that is there now is of a later payment.
    if (error instanceof NoLongerPaid) return note('refunded')
    const isRefused = isDefinite(error)
    note(isRefused ? 'refused' : 'failed', error)
    const reason = error instanceof ApiError ? error.message : 'The service failed'
    await db
      .inWorkspace(context, (tx) =>
        writeFailure(tx, order, reason, { isRefused, isShort: isRefused && isShort(error) }),
      )
      .catch((cause: unknown) => note('unknown', cause))
  }
}

/**
 * Whether another attempt would be refused as well: the stock is short, a variant is gone, the order is cancelled. Not
 * when the workspace had too much under way.
 */
function isDefinite(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status >= 500 || error.code === 'rate_limited') return false
  return !(error instanceof CatalogError) || error.isDefinite
}

/** Whether catalog has too little: it refuses nothing else of a take with a conflict. */
const isShort = (error: unknown): boolean => error instanceof CatalogError && error.code === 'conflict'

interface Failure {
  readonly isRefused: boolean
  readonly isShort: boolean
}

/**
 * Short stock is final, unless the first time is less than the pause ago, an attempt from before it is still under way,
 * or Kafka lacks a record that gives stock back. A first time that lies ahead is of a wrong clock (OP-302).
 */
const writeFailure = (tx: Transaction, order: string, reason: string, { isRefused, isShort }: Failure) => tx`
  update placement set
    attempts = attempts + 1, reason = ${reason},
    short_since = coalesce(short_since, case when ${isShort} then now() end),
    next_attempt_at = case
      when not ${isRefused}
      then now() + make_interval(secs => least(${LONGEST_PAUSE_S}, ${FIRST_PAUSE_S} * 2.0 ^ least(attempts, 20)))
      when ${isShort} and (
        short_since is null or short_since between now() - make_interval(secs => ${SHORT_PAUSE_S}) and now()
        or exists (
          select from released_attempt
          where workspace_id = placement.workspace_id and order_id = placement.order_id
        ) or exists (
          select from reservation
          where workspace_id = placement.workspace_id and state = 'TAKING'
            and (order_id = placement.order_id or created_at < short_since)
        ) or exists (
          select from outbox
          where workspace_id = placement.workspace_id and published_at is null and refused is null
            and topic not like '%.events' and type in ('reservation.released', 'stock.returned')
        ) or exists (
          select from outbox -- held by the relay
          where workspace_id = placement.workspace_id and retry_at is not null
            and type in ('reservation.released', 'stock.returned')
        )
      )
      then now() + make_interval(secs => ${SHORT_PAUSE_S})
    end
  where workspace_id = ${tx.context.workspaceId} and order_id = ${order}`
