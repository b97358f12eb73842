import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { StockReturned } from '@backoffice/contracts/order-records.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { enter } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { returnOnce } from './return-stock.ts'

const Returned = z.object({
  workspace_id: Id,
  livemode: z.boolean(),
  type: z.literal('stock.returned'),
  data: z.object(StockReturned.shape),
})
type Returned = z.output<typeof Returned>

/**
 * Gives back the parts of reservations that orders has given up, once (OP-212). One record is one transaction, as in
 * `releaseReservations`, and for the same reason. A topic and a group of its own: replicas of the version before would
 * send such records of `orders.reservations` to the dead letters.
 */
export const reduceReservations: ConsumerDefinition<Returned> = {
  name: 'catalog.returns',
  topics: [TOPICS.ordersReturns],
  schema: Returned,
  batchSize: 1,
  isEachIndependent: true,
  async handle(records, tx) {
    for (const { value, traceparent } of records) {
      const { workspace_id: workspaceId, livemode, data } = value
      const context = { workspaceId, livemode, actor: 'orders', traceparent: traceparentFrom(traceparent) }
      await enter(tx, context, (inside) => returnOnce(inside, data))
    }
    return undefined
  },
}
