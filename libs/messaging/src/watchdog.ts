import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import type { ProcessContext } from '@backoffice/runtime/process.ts'
import type { GroupMember, Kafka, Position } from './kafka-connection.ts'
import { type Sighting, stallDetector } from './stall-detector.ts'

const LOOKS = 12

const lagRecords = meter('consumer').createGauge('consumer_lag_records', {
  description: 'Records that wait in the partitions this process has',
})

export interface Watched {
  readonly name: string
  readonly topics: readonly string[]
  readonly kafka: Kafka
  readonly member: GroupMember
  readonly logger: Logger
  readonly fatal: ProcessContext['fatal']
  readonly stalledAfterMs: number
  /** Counts the consumer's waits for better circumstances: whoever waits is not stalled. */
  waits(): number
}

/**
 * Measures a consumer's lag and ends the process when records wait and nothing moves: kafkajs goes to sleep after some
 * rebalances, and only a new process is sure to wake it. While Kafka is away nothing is seen and nothing is concluded.
 * Returns what ends the watch.
 */
export function watchForStall({
  name,
  topics,
  kafka,
  member,
  logger,
  fatal,
  stalledAfterMs,
  waits,
}: Watched): () => void {
  const stalledOf = stallDetector(LOOKS)
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    try {
      const sightings = sightingsOf(await kafka.positions(name, topics), member.assigned(), waits())
      lagRecords.record(
        sightings.reduce((sum, { lag }) => sum + lag, 0),
        { consumer: name },
      )
      const stalled = stalledOf(sightings)
      if (stalled.length > 0) fatal(`consumer ${name} is stalled at ${stalled.join(', ')}`)
    } catch (error) {
      logger.warn({ err: error, consumer: name }, 'could not measure the lag')
    } finally {
      isLooking = false
    }
  }
  const looks = setInterval(look, stalledAfterMs / LOOKS)
  return () => clearInterval(looks)
}

/** One sighting per partition this member has. A member that has none may be shut out, so it watches the whole group. */
function sightingsOf(positions: Position[], assigned: ReadonlySet<string>, waits: number): Sighting[] {
  const own = positions.filter(({ partition }) => assigned.has(partition))
  if (own.length > 0) return own.map(({ partition, offset, lag }) => ({ partition, lag, mark: offset + waits }))
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  return [
    {
      partition: 'the whole group',
      lag: sum(positions.map(({ lag }) => lag)),
      mark: sum(positions.map(({ offset }) => offset)) + waits,
    },
  ]
}
