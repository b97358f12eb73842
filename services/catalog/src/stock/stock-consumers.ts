import { TOPICS, type Topic } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition, Handle } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { z } from 'zod'
import { queueBehindOthers, queueRecord } from './queued-stock.ts'
import { ACTOR, applyRecord, LOCK_TIMEOUT, ReleasedRecord, ReturnedRecord, type StockRecord } from './stock-records.ts'

/** Returns the stock of reservations that orders has given up, once (OP-96). */
export const releaseReservations = stockConsumer('catalog.reservations', TOPICS.ordersReservations, ReleasedRecord)

/** Gives back the parts of reservations that orders has given up, once (OP-212). They have a topic of their own. */
export const reduceReservations = stockConsumer('catalog.returns', TOPICS.ordersReturns, ReturnedRecord)

/**
 * A consumer that moves stock. One record is one transaction: two together could deadlock with a take, which locks
 * variants in id order. It waits for no workspace: a record whose rows are locked is queued, and so are those of its
 * workspace until that one is applied. Its pool connects as the app role. Needs no wake-up: the workers poll.
 */
function stockConsumer<Value extends StockRecord & { workspace_id: string; livemode: boolean }>(
  name: string,
  topic: Topic,
  schema: z.ZodType<Value>,
): ConsumerDefinition<Value> {
  const inWorkspaceOfEach =
    (work: (tx: Transaction, record: Value) => Promise<unknown>): Handle<Value> =>
    async (records, begun) => {
      for (const { value, traceparent } of records) {
        const { workspace_id: workspaceId, livemode } = value
        const context = { workspaceId, livemode, actor: ACTOR, traceparent: traceparentFrom(traceparent) }
        await enter(begun, context, (tx) => work(tx, value), { lock_timeout: LOCK_TIMEOUT })
      }
      return undefined
    }
  return {
    name,
    topics: [topic],
    schema,
    batchSize: 1,
    isEachIndependent: true,
    handle: inWorkspaceOfEach(async (tx, record) => {
      if (!(await queueBehindOthers(tx, record))) await applyRecord(tx, record)
    }),
    postpone: inWorkspaceOfEach(queueRecord),
  }
}
