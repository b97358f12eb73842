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
    paid_at: z.string().nullable(),
  })
  .transform(({ id, workspace_id, order_id, amount_minor, currency, paid_at }) => ({
    id,
    workspaceId: workspace_id,
    order: order_id,
    amountMinor: amount_minor,
    currency,
    paidAt: paid_at,
  }))
/** A checkout of an order. Whoever knows its id, which is random, may pay it. */
export type Checkout = z.output<typeof Row>

/**
 * Makes a checkout, or returns the open one of the same order and amount: the platform may ask twice. Undefined in a
 * workspace without credentials, so that a request that an uninstall overtakes leaves nothing behind.
 */
export function openCheckout(
  database: Database,
  { workspaceId, order, amountMinor, currency }: Omit<Checkout, 'id' | 'paidAt'>,
): Checkout | undefined {
  database
    .prepare(
      `insert into checkout
      select ?, workspace_id, ?, ?, ?, null from credentials where workspace_id = ?
      on conflict do nothing`,
    )
    .run(randomUUID(), order, amountMinor, currency, workspaceId)
  const row = database
    .prepare(
      `select * from checkout
      where workspace_id = ? and order_id = ? and amount_minor = ? and currency = ? and paid_at is null`,
    )
    .get(workspaceId, order, amountMinor, currency)
  return row && Row.parse(row)
}

export function findCheckout(database: Database, id: string): Checkout | undefined {
  const row = database.prepare('select * from checkout where id = ?').get(id)
  return row && Row.parse(row)
}

export function markPaid(database: Database, id: string, now: Date): void {
  database.prepare('update checkout set paid_at = ? where id = ? and paid_at is null').run(now.toISOString(), id)
}
