import { setImmediate as turn } from 'node:timers/promises'
import { isId } from '@backoffice/contracts/fields.ts'
import { type Received, receivedOf } from '@backoffice/messaging/handling.ts'
import type { IncomingRecord } from '@backoffice/messaging/kafka-connection.ts'
import { newestOf, StateRecord } from './product-state.ts'
import { type ProjectedProduct, projectedOf } from './projected-product.ts'

/** A record that nobody can read. */
export interface Unreadable {
  readonly partition: number
  readonly offset: string
  readonly key: string | null
  readonly reason: string
}

/** What records of one partition come to. */
export interface ReadStates {
  readonly partition: number
  readonly records: number
  readonly products: readonly ProjectedProduct[]
  readonly deleted: readonly string[]
  readonly unreadable: readonly Unreadable[]
}

/** Records read at a stretch: some milliseconds' worth. */
const AT_ONCE = 100

/**
 * Reads records of one partition as the consumer does, which sends to the dead letters what it cannot read. Lets the event loop turn on
 * the way: whoever writes those before answers the database meanwhile.
 */
export async function readStates(records: readonly IncomingRecord[]): Promise<ReadStates> {
  const unreadable: Unreadable[] = []
  const received: Received<StateRecord>[] = []
  for (const [index, record] of records.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await turn()
    try {
      if (!isId(record.key ?? '')) throw new Error('its key is no product’s id')
      received.push(receivedOf(record, StateRecord))
    } catch (error) {
      const { partition, offset, key } = record
      unreadable.push({ partition, offset, key, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  const { states, deleted } = newestOf(received)
  const products: ProjectedProduct[] = []
  for (const [index, state] of states.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await turn()
    products.push(projectedOf(state))
  }
  return { partition: records[0]?.partition ?? 0, records: records.length, products, deleted, unreadable }
}
