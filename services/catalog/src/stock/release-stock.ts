import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { refreshRequests } from '../products/refresh-products.ts'
import { readReservation, TakenLine } from './stock-lines.ts'

const Released = z.strictObject({ order: Id, state: z.literal('RELEASED'), lines: z.array(TakenLine) })
export type Released = z.output<typeof Released>

/**
 * POST /internal/stock/release: returns the stock of a reservation, once. One without a take is released too, so that a
 * late take is refused (OP-44, OP-71, OP-96).
 */
export const releaseStock = operation({
  method: 'POST',
  path: '/internal/stock/release',
  scope: 'internal',
  body: z.strictObject({ order: Id }),
  responses: { 200: Released },

  handle: ({ body: { order: reservation }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const released = await releaseOnce(tx, reservation)
      if (released === undefined) return ok({ order: reservation, ...(await readReservation(tx, reservation)) })
      return ok({ order: reservation, state: 'RELEASED', lines: released })
    }),
})

/**
 * Releases a reservation and returns the lines of what it gave back; undefined if it was released before (OP-96). Waits
 * for a running take of it.
 */
export async function releaseOnce(tx: Transaction, reservation: string): Promise<TakenLine[] | undefined> {
  const [released] = await tx<{ lines: TakenLine[] }[]>`
    insert into stock_reservation (workspace_id, order_id, state, lines, released_at)
    values (${tx.context.workspaceId}, ${reservation}, 'RELEASED', '[]', now())
    on conflict (workspace_id, order_id) do update set state = 'RELEASED', released_at = now()
      where stock_reservation.state = 'TAKEN'
    returning lines`
  if (released !== undefined && released.lines.length > 0) await giveBack(tx, reservation, 'released', released.lines)
  return released?.lines
}

const STOCK_MAX = Number.MAX_SAFE_INTEGER

/**
 * Adds quantities to stock, or takes negative ones out, up to ±(2^53−1) (OP-96). A separate statement, so that its
 * snapshot has the variants of a take that the release waited for.
 */
export async function giveBack(
  tx: Transaction,
  reservation: string,
  reason: 'released' | 'returned',
  lines: readonly Pick<TakenLine, 'variant' | 'quantity'>[],
): Promise<void> {
  const workspace = tx.context.workspaceId
  await tx`
    with stated as materialized ( -- in force when the ledger's trigger runs, which is at the end of the statement
      select set_config('app.stock_reason', ${reason}, true), set_config('app.order_id', ${reservation}, true)
    ), taken as materialized (
      select variant, quantity
      from stated, json_to_recordset(${JSON.stringify(lines)}::text::json) as line (variant uuid, quantity bigint)
    ), locked as materialized (
      select id, least(greatest(stock + quantity, ${-STOCK_MAX}), ${STOCK_MAX}) as stock
      from taken join variant on id = variant
      where workspace_id = ${workspace} and id = any(array(select variant from taken))
      order by id for no key update of variant
    ), changed as (
      update variant set stock = locked.stock
      from locked
      where variant.workspace_id = ${workspace} and variant.id = locked.id
      returning variant.product_id
    ), requested as (
      select distinct product_id, true as is_change from changed
    )
    ${refreshRequests(tx)} -- OP-71`
}
