import type { Database } from '../database.ts'
import type { Checkout } from './checkouts.ts'

/** Is declined, so that you can see it; in minor units. */
const DECLINED_AMOUNT = 40_200

/**
 * Takes the money of a checkout, and returns whether it was taken or declined. This function stands for the payment
 * provider: put the call of yours here, with a timeout. The checkout's id is the idempotency key, so that the money is
 * taken once, however often this is called. Where the provider does not answer, throw: the call is repeated until it
 * does, since the money may have been taken.
 */
export async function charge(database: Database, { id, amountMinor }: Checkout): Promise<boolean> {
  if (amountMinor === DECLINED_AMOUNT) return false
  database
    .prepare(
      'insert into charge select id, workspace_id, amount_minor from checkout where id = ? on conflict do nothing',
    )
    .run(id)
  return true
}
