import { conflict } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { StockReturned } from '@backoffice/contracts/order-records.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { giveBack } from './release-stock.ts'
import type { TakenLine } from './stock-lines.ts'

type Return = z.output<typeof StockReturned>

const Returned = z.strictObject({ order: Id, id: Id })

/** POST /internal/stock/return: gives back a part of what a reservation has taken, once (OP-71, OP-212). */
export const returnStock = operation({
  method: 'POST',
  path: '/internal/stock/return',
  scope: 'internal',
  body: StockReturned,
  responses: { 200: Returned },

  handle: ({ body, inWorkspace }) =>
    inWorkspace(async (tx) => {
      await returnOnce(tx, body)
      return ok({ order: body.order, id: body.id })
    }),
})

/**
 * Takes lines out of a reservation, and adds those with `restock` to stock, unless that was done before (OP-212). Waits
 * for a running release of it. Throws `conflict` for more than the reservation has.
 */
export async function returnOnce(tx: Transaction, returned: Return): Promise<void> {
  const { order: reservation, id } = returned
  const workspace = tx.context.workspaceId
  const isNew = await tx`
    insert into stock_return (workspace_id, id, order_id, returned_at) values (${workspace}, ${id}, ${reservation}, now())
    on conflict (workspace_id, id) do nothing
    returning id`
  if (isNew.length === 0) return
  const [found] = await tx<{ state: 'TAKEN' | 'RELEASED'; lines: TakenLine[] }[]>`
    select state, lines from stock_reservation
    where workspace_id = ${workspace} and order_id = ${reservation}
    for no key update`
  const { lines, moved } = planReturn(found ?? { state: 'TAKEN', lines: [] }, returned)
  await tx`
    update stock_reservation set lines = ${JSON.stringify(lines)}::text::json
    where workspace_id = ${workspace} and order_id = ${reservation}`
  if (moved.length > 0) await giveBack(tx, reservation, 'returned', moved)
}

/**
 * What is left of a reservation after a return, and what moves in stock. A release that came first has given all back:
 * then only what must not be sold again is taken out.
 */
export function planReturn(
  { state, lines }: { readonly state: 'TAKEN' | 'RELEASED'; readonly lines: readonly TakenLine[] },
  { order: reservation, lines: returned }: Pick<Return, 'order' | 'lines'>,
) {
  const left = new Map(lines.map((line) => [line.variant, line.quantity]))
  const moves = new Map<string, number>()
  for (const { variant, quantity, restock } of returned) {
    const rest = (left.get(variant) ?? 0) - quantity
    if (rest < 0)
      throw conflict(['lines'], `reservation ${reservation} has not taken ${quantity} of variant ${variant}`)
    left.set(variant, rest)
    const move = state === 'TAKEN' ? (restock ? quantity : 0) : restock ? 0 : -quantity
    moves.set(variant, (moves.get(variant) ?? 0) + move)
  }
  return {
    lines: lines
      .map((line) => ({ ...line, quantity: left.get(line.variant) ?? 0 }))
      .filter(({ quantity }) => quantity > 0),
    moved: [...moves].map(([variant, quantity]) => ({ variant, quantity })).filter(({ quantity }) => quantity !== 0),
  }
}
