import { TOPICS, type Topic } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { StockReturned } from '@backoffice/contracts/order-records.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { releaseOnce } from './release-stock.ts'
import { returnOnce } from './return-stock.ts'

const recordOf = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.object({ workspace_id: Id, livemode: z.boolean(), type: z.literal(type), data })

/** Returns the stock of reservations that orders has given up, once (OP-96). */
export const releaseReservations = stockConsumer({
  name: 'catalog.reservations',
  topic: TOPICS.ordersReservations,
  schema: recordOf('reservation.released', z.object({ order: Id })),
  apply: (tx, { data }) => releaseOnce(tx, data.order),
})

/**
 * Gives back the parts of reservations that orders has given up, once (OP-212). A topic and a group of its own:
 * replicas of the version before would send such records of `orders.reservations` to the dead letters.
 */
export const reduceReservations = stockConsumer({
  name: 'catalog.returns',
  topic: TOPICS.ordersReturns,
  schema: recordOf('stock.returned', z.object(StockReturned.shape)),
  apply: (tx, { data }) => returnOnce(tx, data),
})

/**
 * A consumer that moves stock. One record is one transaction: two together could deadlock with a take, which locks
 * variants in id order. Its pool connects as the app role. Needs no wake-up: the refresh worker polls.
 */
function stockConsumer<Value extends { workspace_id: string; livemode: boolean }>({
  name,
  topic,
  schema,
  apply,
}: {
  readonly name: string
  readonly topic: Topic
  readonly schema: z.ZodType<Value>
  readonly apply: (tx: Transaction, value: Value) => Promise<unknown>
}): ConsumerDefinition<Value> {
  return {
    name,
    topics: [topic],
    schema,
    batchSize: 1,
    isEachIndependent: true,
    async handle(records, begun) {
      for (const { value, traceparent } of records) {
        const { workspace_id: workspaceId, livemode } = value
        const context = { workspaceId, livemode, actor: 'orders', traceparent: traceparentFrom(traceparent) }
        await enter(begun, context, (tx) => apply(tx, value))
      }
      return undefined
    },
  }
}
