import { isId } from '@backoffice/contracts/fields.ts'
import { receivedOf } from '@backoffice/messaging/handling.ts'
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

/** Reads records of one partition as the consumer does, which sends to the dead letters what it cannot read. */
export function readStates(records: readonly IncomingRecord[]): ReadStates {
  const unreadable: Unreadable[] = []
  const received = records.flatMap((record) => {
    const { partition, offset, key } = record
    try {
      if (!isId(key ?? '')) throw new Error('its key is no product’s id')
      return [receivedOf(record, StateRecord)]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      unreadable.push({ partition, offset, key, reason })
      return []
    }
  })
  const { states, deleted } = newestOf(received)
  const partition = records[0]?.partition ?? 0
  return { partition, records: records.length, products: states.map(projectedOf), deleted, unreadable }
}
