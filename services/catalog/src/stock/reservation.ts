import type { Transaction } from '@backoffice/postgres/database.ts'
import type { TakenLine } from './stock-lines.ts'

/** What an order has taken, or had until it was released. */
export interface Reservation {
  readonly state: 'TAKEN' | 'RELEASED'
  readonly lines: TakenLine[]
}

/** Reads the reservation of an order that is known to have one. */
export async function readReservation(tx: Transaction, order: string): Promise<Reservation> {
  const [reservation] = await tx<[Reservation]>`
    select state, lines from stock_reservation
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order}`
  return reservation
}
