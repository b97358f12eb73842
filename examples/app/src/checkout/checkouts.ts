import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../database.ts'

const Row = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    order_id: z.string(),
    amount_minor: z.number(),
    currency: z.string(),
    state: z.enum(['OPEN', 'CHARGED', 'PAID', 'CLOSED']),
  })
  .transform(({ id, workspace_id, order_id, amount_minor, currency, state }) => ({
    id,
    workspaceId: workspace_id,
    order: order_id,
    amountMinor: amount_minor,
    currency,
    state,
  }))
/**
 * A checkout of an order. Whoever knows its id, which is random, may pay it while it is OPEN. CHARGED: its money was
 * taken, and the platform does not know of it yet. CLOSED: nobody can pay it any more.
 */
export type Checkout = z.output<typeof Row>

/**
 * Makes a checkout, or returns the one of the order that is open: the platform may ask twice. One of another amount is
 * closed, so that an order has one that can be paid. Undefined in a workspace without credentials, so that a request
 * that an uninstall overtakes leaves nothing behind.
 */
export function openCheckout(
  database: Database,
  { workspaceId, order, amountMinor, currency }: Omit<Checkout, 'id' | 'state'>,
): Checkout | undefined {
  database
    .prepare(
      `update checkout set state = 'CLOSED'
      where workspace_id = ? and order_id = ? and state = 'OPEN' and (amount_minor <> ? or currency <> ?)`,
    )
    .run(workspaceId, order, amountMinor, currency)
  database
    .prepare(
      `insert into checkout
      select ?, workspace_id, ?, ?, ?, 'OPEN' from credentials where workspace_id = ?
      on conflict do nothing`,
    )
    .run(randomUUID(), order, amountMinor, currency, workspaceId)
  const row = database
    .prepare(`select * from checkout where workspace_id = ? and order_id = ? and state in ('OPEN', 'CHARGED')`)
    .get(workspaceId, order)
  return row && Row.parse(row)
}

export function findCheckout(database: Database, id: string): Checkout | undefined {
  const row = database.prepare('select * from checkout where id = ?').get(id)
  return row && Row.parse(row)
}

/** The checkouts whose payments the platform does not know yet. */
export const chargedCheckouts = (database: Database): Checkout[] =>
  database
    .prepare(`select * from checkout where state = 'CHARGED'`)
    .all()
    .map((row) => Row.parse(row))

/**
 * Takes the money of a checkout that is OPEN; does nothing for any other. The change of the state is the one statement
 * that decides, however often and from how many tabs the customer pays. A trigger makes the charge with it. With a real
 * provider you charge at this point, with the checkout's id as the idempotency key, and repeat that until it answers.
 */
export function takeMoney(database: Database, id: string): void {
  database.prepare(`update checkout set state = 'CHARGED' where id = ? and state = 'OPEN'`).run(id)
}

/** The platform has the payment. */
export function markPaid(database: Database, id: string): void {
  database.prepare(`update checkout set state = 'PAID' where id = ? and state = 'CHARGED'`).run(id)
}

/** The order was cancelled, or paid in another way: nobody shall pay it any more. */
export function closeCheckouts(database: Database, workspaceId: string, order: string): void {
  database
    .prepare(`update checkout set state = 'CLOSED' where workspace_id = ? and order_id = ? and state = 'OPEN'`)
    .run(workspaceId, order)
}
