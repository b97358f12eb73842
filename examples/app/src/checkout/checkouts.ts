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
    state: z.enum(['OPEN', 'CHARGING', 'CHARGED', 'PAID', 'CLOSED']),
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
 * A checkout of an order. Whoever knows its id, which is random, may pay it while it is OPEN. CHARGING: the provider is
 * asked to take the money, and may have taken it. CHARGED: it has, and the platform does not know of it yet. PAID: the
 * platform knows. CLOSED: nobody can pay it any more.
 */
export type Checkout = z.output<typeof Row>

/**
 * Makes a checkout, or returns the one of the order that is open: the platform may ask twice. One of another amount is
 * closed, so that an order has one that can be paid. Undefined when the order has ended, which a webhook may say before
 * this request comes, and in a workspace without credentials, so that a request that an uninstall overtakes leaves
 * nothing behind.
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
      select ?, workspace_id, ?, ?, ?, 'OPEN' from credentials
      where workspace_id = ? and not exists (
        select 1 from latest_order where workspace_id = credentials.workspace_id and order_id = ? and has_ended
      )
      on conflict do nothing`,
    )
    .run(randomUUID(), order, amountMinor, currency, workspaceId, order)
  const row = database
    .prepare(
      `select * from checkout
      where workspace_id = ? and order_id = ? and state in ('OPEN', 'CHARGING', 'CHARGED')`,
    )
    .get(workspaceId, order)
  return row && Row.parse(row)
}

export function findCheckout(database: Database, id: string): Checkout | undefined {
  const row = database.prepare('select * from checkout where id = ?').get(id)
  return row && Row.parse(row)
}

/** The checkouts that a customer has paid, or tried to, and whose end the platform does not know yet. */
export const checkoutsToSettle = (database: Database): Checkout[] =>
  database
    .prepare(`select * from checkout where state in ('CHARGING', 'CHARGED')`)
    .all()
    .map((row) => Row.parse(row))

/**
 * Before the provider is asked. The change of the state is the one statement that decides, however often and from how
 * many tabs the customer pays: from now on nothing closes the checkout but the provider's answer.
 */
export function startCharging(database: Database, id: string): void {
  database.prepare(`update checkout set state = 'CHARGING' where id = ? and state = 'OPEN'`).run(id)
}

/**
 * What the provider has answered. A checkout that it has declined is closed: it answers the same again for the same
 * idempotency key, so the next try is another checkout.
 */
export function endCharging(database: Database, id: string, isTaken: boolean): void {
  database
    .prepare(`update checkout set state = ? where id = ? and state = 'CHARGING'`)
    .run(isTaken ? 'CHARGED' : 'CLOSED', id)
}

/** The platform has the payment. */
export function markPaid(database: Database, id: string): void {
  database.prepare(`update checkout set state = 'PAID' where id = ? and state = 'CHARGED'`).run(id)
}

/** Closes the checkouts of an order that ask for more than this: nobody shall pay them any more. */
export function closeCheckouts(database: Database, workspaceId: string, order: string, amountMinor: number): void {
  database
    .prepare(
      `update checkout set state = 'CLOSED'
      where workspace_id = ? and order_id = ? and state = 'OPEN' and amount_minor > ?`,
    )
    .run(workspaceId, order, amountMinor)
}
