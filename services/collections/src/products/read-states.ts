import { setImmediate as turn } from 'node:timers/promises'
import { isId } from '@backoffice/contracts/fields.ts'
import { parseRecord, type ReceivedRecord } from '@backoffice/messaging/consumers/received-records.ts'
import type { IncomingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { latestStates, type ProjectionRow, projectionRowOf, StateRecord } from './product-state.ts'

export interface UnreadableRecord {
  readonly partition: number
  readonly offset: string
  readonly key: string | null
  readonly reason: string
}

/** Records read before the event loop turns: some milliseconds. */
const BATCH_SIZE = 100

/**
 * Reads records of one partition with the consumer's checks: the latest states, the ids of deleted products, and the
 * unreadable records. Lets the event loop turn, so that earlier statements go on.
 */
export async function readStates(records: readonly IncomingRecord[]) {
  const unreadable: UnreadableRecord[] = []
  const received: ReceivedRecord<StateRecord>[] = []
  for (const [index, record] of records.entries()) {
    if (index % BATCH_SIZE === BATCH_SIZE - 1) await turn()
    try {
      if (!isId(record.key ?? '')) throw new Error('its key is no product’s id')
      received.push(parseRecord(record, StateRecord))
    } catch (error) {
      const { partition, offset, key } = record
      unreadable.push({ partition, offset, key, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  const { states, deleted } = latestStates(received)
  const products: ProjectionRow[] = []
  for (const [index, state] of states.entries()) {
    if (index % BATCH_SIZE === BATCH_SIZE - 1) await turn()
    products.push(projectionRowOf(state))
  }
  return { partition: records[0]?.partition ?? 0, records: records.length, products, deleted, unreadable }
}

export type ReadStates = Awaited<ReturnType<typeof readStates>>
