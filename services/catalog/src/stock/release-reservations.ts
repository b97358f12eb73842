import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { enter } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { releaseOnce } from './release-stock.ts'

const ReservationReleased = z.object({
  workspace_id: Id,
  livemode: z.boolean(),
  type: z.literal('reservation.released'),
  data: z.object({ order: Id }),
})
type ReservationReleased = z.output<typeof ReservationReleased>

/**
 * Returns the stock of reservations that orders has given up, once (OP-96). One record is one transaction: two releases
 * together could deadlock with a take, which locks variants in id order. Its pool connects as the app role.
 */
export const releaseReservations: ConsumerDefinition<ReservationReleased> = {
  name: 'catalog.reservations',
  topics: [TOPICS.ordersReservations],
  schema: ReservationReleased,
  batchSize: 1,
  isEachIndependent: true,
  async handle(records, tx) {
    for (const { value, traceparent } of records) {
      const { workspace_id: workspaceId, livemode, data } = value
      const context = { workspaceId, livemode, actor: 'orders', traceparent: traceparentFrom(traceparent) }
      await enter(tx, context, (inside) => releaseOnce(inside, data.order))
    }
    // Needs no wake-up: the refresh worker polls.
    return undefined
  },
}
