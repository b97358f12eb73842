import { currentTime } from '@backoffice/runtime/clock.ts'
import { counter, durations } from '@backoffice/runtime/metrics.ts'
import type { IncomingRecord } from '../kafka/kafka-connection.ts'

const consumed = counter('consumer_records', 'Records consumed')
const deadLetters = counter('consumer_dead_letters', 'Records sent to a dead-letter topic')
const placeholders = counter(
  'consumer_dead_letter_placeholders',
  'Dead letters that Kafka took only without their value',
)
const duration = durations('consumer_batch_duration_seconds', 'Processing of a batch of records, with its retries')
const age = durations(
  'consumer_record_age_seconds',
  'From the time at which Kafka got a record until it is processed: the oldest record of each batch',
)

/** Counts records that went to the dead letters, and those of them that went there without their value. */
export function countDeadLetters(consumer: string, records: number, withoutValue = 0): void {
  deadLetters.add(records, { consumer })
  if (withoutValue > 0) placeholders.add(withoutValue, { consumer })
}

/** Measures a processed batch of one partition. `startedAt` is `performance.now()`. */
export function measureBatch(consumer: string, records: readonly IncomingRecord[], startedAt: number): void {
  const [oldest] = records
  if (oldest === undefined) return
  consumed.add(records.length, { consumer, topic: oldest.topic })
  duration.record((performance.now() - startedAt) / 1000, { consumer })
  age.record(Math.max(0, currentTime().getTime() - oldest.producedAt.getTime()) / 1000, { consumer })
}
