import { meter, SECONDS } from '@backoffice/runtime/metrics.ts'
import type { IncomingRecord } from '../kafka/kafka-connection.ts'

const consumers = meter('consumer')
const consumed = consumers.createCounter('consumer_records', { description: 'Records consumed' })
const deadLetters = consumers.createCounter('consumer_dead_letters', {
  description: 'Records sent to a dead-letter topic',
})
const duration = consumers.createHistogram('consumer_batch_duration_seconds', {
  description: 'Processing of a batch of records, with its retries',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})
const age = consumers.createHistogram('consumer_record_age_seconds', {
  description: 'From the time at which Kafka got a record until it is processed: the oldest record of each batch',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})

/** Sets a consumer's count of dead letters to 0: Prometheus sees no increase in a counter that first appears with 1. */
export const startMeasuring = (consumer: string): void => countDeadLetters(consumer, 0)

/** Counts records that went to the dead letters. */
export const countDeadLetters = (consumer: string, records: number): void => deadLetters.add(records, { consumer })

/** Measures a processed batch of one partition. `startedAt` is `performance.now()`. */
export function measureBatch(consumer: string, records: readonly IncomingRecord[], startedAt: number): void {
  const [oldest] = records
  if (oldest === undefined) return
  consumed.add(records.length, { consumer, topic: oldest.topic })
  duration.record((performance.now() - startedAt) / 1000, { consumer })
  age.record(Math.max(0, Date.now() - oldest.producedAt.getTime()) / 1000, { consumer })
}
