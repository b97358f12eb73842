import { ApiError } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { isConnectionLost } from '@backoffice/postgres/postgres-errors.ts'
import { currentTime, newId } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import type { Catalog, StockLine, StockReturn } from '../catalog/catalog-client.ts'
import { CatalogError } from '../catalog/catalog-refusal.ts'
import { forgetReleased, noteReleased } from '../placements/placement.ts'

const failures = counter('orders_release_failures', 'Releases of reservations that failed at once, by step')

/**
 * Marks the reservation as held, in the transaction of placing. Throws what catalog refused, and `service_unavailable`
 * if the reservation was released.
 */
export type HoldReservation = (tx: Transaction) => Promise<void>

/** What is to be reserved, for which order. */
interface Wanted {
  readonly id: string
  /** Of the request that creates the order. */
  readonly idempotencyKey?: string | undefined
  readonly lines: readonly StockLine[]
  /** Given for a new order that `work` prices from what was taken. Then nothing without a price in it is taken. */
  readonly currency?: string | undefined
  /** Reads what the returned check needs, which then runs before the reservation begins. */
  readonly check?: (tx: Transaction) => Promise<(() => Promise<void>) | undefined>
}

/**
 * Reserves stock in three steps: a row says that catalog is about to take it, catalog takes it, and the transaction of
 * `work` holds it. Whatever is not held afterwards is released: here, or by `releaseAbandoned` when this process ends
 * in between. Without lines there is nothing to take.
 *
 * `work` runs also when catalog has taken nothing: a concurrent request may have placed this very order, perhaps with
 * the last of the stock. So `work` looks at the order under a lock, or claims the Idempotency-Key, and calls `hold`
 * where it still needs the stock. `hold` then throws `refused`: what catalog refused (`conflict` for short stock), or
 * `service_unavailable` when catalog did not answer in time. While another request for the order, or of the same
 * Idempotency-Key, is under way, it throws `rate_limited` instead.
 *
 * Each attempt has an id of its own, also under the same Idempotency-Key. Under a shared id the release of a failed
 * attempt, which catalog may consume late, could return what the next attempt has taken (OP-136). What failed attempts
 * to place the order may still hold is given back before its stock is taken.
 */
export const reserveStock =
  (db: Database, catalog: Catalog, logger: Logger) =>
  async <Result>(
    context: RequestContext,
    { id: order, idempotencyKey, lines, currency, check }: Wanted,
    work: (hold: HoldReservation, variants?: OrderableVariant[], refused?: unknown) => Promise<Result>,
  ): Promise<Result> => {
    if (lines.length === 0) return work(async () => undefined)
    const reservation = newId()
    /** Stays true when `hold` is rolled back and not repeated: then `releaseAbandoned` releases it. */
    let isHeld = false
    const hold: HoldReservation = async (tx) => {
      await holdReservation(tx, reservation)
      isHeld = true
    }
    // While PostgreSQL is away, the reservation stays for `releaseAbandoned`.
    const end = (how: typeof releaseTaking | typeof deleteTaking) =>
      db.inWorkspace(context, (tx) => how(tx, reservation)).catch(noteFailure(logger, context, reservation, 'write'))
    const askForStock = () => returnStock({ catalog, logger }, context, reservation)
    /** Catalog has just answered, so it is asked at once: the next attempt may need the stock. */
    const giveBack = async () => {
      const released = await end(releaseTaking)
      if (released?.length) await askForStock()
    }

    const attempt = { id: reservation, order, idempotencyKey }
    const begin = (tx: Transaction) => insertReservation(tx, attempt)
    const { longCheck, formers } = await db.inWorkspace(context, async (tx) => {
      const longCheck = await check?.(tx)
      return { longCheck, formers: longCheck ? undefined : await begin(tx) }
    })
    await longCheck?.()
    // After the long check, which may take longer than a reservation may stay without its order.
    const released = formers ?? (await db.inWorkspace(context, begin))
    let variants: OrderableVariant[] | undefined
    let isAsked = false
    try {
      for (const former of released) await catalog.releaseStock(context, former)
      if (released.length > 0) await db.inWorkspace(context, (tx) => forgetReleased(tx, order, released))
      isAsked = true
      variants = await catalog.takeStock(context, reservation, lines, currency)
    } catch (error) {
      const isNothingTaken = !isAsked || (error instanceof CatalogError && error.isDefinite)
      const released = await end(isNothingTaken ? deleteTaking : releaseTaking)
      // The request does not wait a second time for a catalog that has not answered.
      if (!isNothingTaken && released?.length) void askForStock()
      const refuse: HoldReservation = async (tx) => {
        await refuseWhileTaken(tx, attempt)
        throw error
      }
      return work(refuse, undefined, error)
    }
    try {
      const result = await work(hold, variants)
      // A repeated request, whose answer is stored, does not hold it.
      if (!isHeld) await giveBack()
      return result
    } catch (error) {
      // Releases nothing when the row is HELD: the commit may have succeeded, and only its answer was lost.
      const givenBack = giveBack()
      // PostgreSQL would keep the answer waiting a second time.
      if (!isConnectionLost(error)) await givenBack
      throw error
    }
  }

export type ReserveStock = ReturnType<typeof reserveStock>

interface Attempt {
  /** Of the reservation. */
  readonly id: string
  readonly order: string
  readonly idempotencyKey: string | undefined
}

/** Returns the reservations that failed attempts to place the order have released, and that catalog may still hold. */
async function insertReservation(tx: Transaction, { id, order, idempotencyKey }: Attempt): Promise<string[]> {
  const workspace = tx.context.workspaceId
  const [{ released }] = await tx<[{ released: string[] }]>`
    insert into reservation (workspace_id, id, order_id, idempotency_key, state, livemode, created_at)
    values (${workspace}, ${id}, ${order}, ${idempotencyKey ?? null}, 'TAKING', ${tx.context.livemode}, now())
    returning array(
      select released_attempt.id from released_attempt
      where released_attempt.workspace_id = ${workspace} and released_attempt.order_id = ${order}
    ) as released`
  return released
}

/** Throws `rate_limited` while another attempt at the order, or of the same request, may have the stock. */
async function refuseWhileTaken(tx: Transaction, { id, order, idempotencyKey }: Attempt): Promise<void> {
  const others = await tx`
    select from reservation
    where workspace_id = ${tx.context.workspaceId} and state = 'TAKING' and id <> ${id}
      and (order_id = ${order} or idempotency_key = ${idempotencyKey ?? null})
    limit 1`
  if (others.length === 0) return
  const message = 'Another request is placing this order; try again'
  throw new ApiError('rate_limited', message, { errorReason: 'locked' })
}

async function holdReservation(tx: Transaction, id: string): Promise<void> {
  const { count } = await tx`
    update reservation set state = 'HELD', idempotency_key = null
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and state = 'TAKING'`
  if (count === 0) throw new ApiError('service_unavailable', 'The request took too long; send it again')
}

/** Forgets a reservation that has taken nothing and never will. */
const deleteTaking = (tx: Transaction, id: string) => deleteReservations(tx, tx`id = ${id} and state = 'TAKING'`)

/** Releases a reservation that no order holds. Catalog returns what it has taken, and refuses a later take. */
const releaseTaking = (tx: Transaction, id: string) => releaseAttempts(tx, tx`id = ${id} and state = 'TAKING'`)

/**
 * Releases those of the reservations that no order holds, and returns their ids. Passes over a row that another
 * transaction has locked: it is being held, or another replica releases it.
 */
export async function releaseTakings(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const free = tx`
    select id from reservation
    where workspace_id = ${tx.context.workspaceId} and id = any(${ids as string[]}::uuid[]) and state = 'TAKING'
    for update skip locked`
  return (await releaseAttempts(tx, tx`id = any(array(${free}))`)).map(({ id }) => id)
}

/**
 * Releases the stock of an order that is cancelled, in the transaction that cancels it. Returns the id of the
 * reservation, or undefined for an order that holds none. The caller has locked the order.
 */
export async function releaseHeld(tx: Transaction, order: string): Promise<string | undefined> {
  const [released] = await release(tx, tx`order_id = ${order} and state = 'HELD'`)
  return released?.id
}

/**
 * Asks catalog at once for the stock that `releaseHeld` or `returnHeld` has given back. When it does not answer, it
 * returns the stock once it consumes the record.
 */
export const returnStock = (
  { catalog, logger }: { readonly catalog: Catalog; readonly logger: Logger },
  context: RequestContext,
  given: string | StockReturn,
): Promise<void> =>
  typeof given === 'string'
    ? catalog.releaseStock(context, given).catch(noteFailure(logger, context, given, 'call'))
    : catalog.returnStock(context, given).catch(noteFailure(logger, context, given.order, 'call'))

/** Notes that a step of a release failed, which does not fail the request: something else repeats it. */
export function noteFailure(
  logger: Logger,
  { workspaceId }: RequestContext,
  reservation: string,
  step: 'write' | 'call',
) {
  return (error: unknown) => {
    failures.add(1, { step })
    const logged = { err: error, workspace_id: workspaceId, reservation, step }
    logger.warn(logged, 'could not release a reservation at once')
  }
}

/**
 * Gives back a part of the stock that an order holds, in the transaction that takes it from the order, once for each
 * `id` (OP-212). Returns what is to be asked of catalog, or undefined for an order that holds none. The caller has
 * locked the order.
 */
export async function returnHeld(
  tx: Transaction,
  order: string,
  { id, lines }: Pick<StockReturn, 'id' | 'lines'>,
): Promise<StockReturn | undefined> {
  const [held] = await tx<{ id: string }[]>`
    select id from reservation
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order} and state = 'HELD'`
  if (held === undefined) return undefined
  const returned = { order: held.id, id, lines }
  await publish(tx, [outboxRecord(TOPICS.ordersReturns, 'stock.returned', held.id, returned)], currentTime())
  return returned
}

/** Releases the stock of attempts, and notes them: catalog may hear of it only after the order's next attempt. */
async function releaseAttempts(tx: Transaction, condition: SqlPart) {
  const released = await release(tx, condition)
  if (released.length > 0) await noteReleased(tx, released)
  return released
}

/** Catalog consumes the records, so that the stock comes back also while catalog does not answer. */
async function release(tx: Transaction, condition: SqlPart) {
  const released = await deleteReservations(tx, condition)
  const records = released.map(({ id }) =>
    outboxRecord(TOPICS.ordersReservations, 'reservation.released', id, { order: id }),
  )
  await publish(tx, records, currentTime())
  return released
}

const deleteReservations = (tx: Transaction, condition: SqlPart) => tx<{ id: string; order: string }[]>`
  delete from reservation where workspace_id = ${tx.context.workspaceId} and ${condition} returning id, order_id as order`
