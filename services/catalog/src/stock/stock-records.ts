import { Id } from '@backoffice/contracts/fields.ts'
import { StockReturned } from '@backoffice/contracts/order-records.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { releaseOnce } from './release-stock.ts'
import { returnOnce } from './return-stock.ts'

const recordOf = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.object({ workspace_id: Id, livemode: z.boolean(), type: z.literal(type), data })

export const ReleasedRecord = recordOf('reservation.released', z.object({ order: Id }))
export const ReturnedRecord = recordOf('stock.returned', z.object(StockReturned.shape))

/** A record of orders about stock that comes back, without its workspace. */
export type StockRecord =
  | Pick<z.output<typeof ReleasedRecord>, 'type' | 'data'>
  | Pick<z.output<typeof ReturnedRecord>, 'type' | 'data'>

/** The actor of the movements. */
export const ACTOR = 'orders'
/** The longest wait for a row that another transaction has locked: records of other workspaces wait meanwhile. */
export const LOCK_TIMEOUT = '200ms'

/**
 * Gives back what a record says, once (OP-96, OP-212): the release and the returns of a reservation come to the same in
 * any order. Throws `conflict` for more than the reservation has.
 */
export async function applyRecord(tx: Transaction, { type, data }: StockRecord): Promise<void> {
  if (type === 'stock.returned') await returnOnce(tx, data)
  else await releaseOnce(tx, data.order)
}
