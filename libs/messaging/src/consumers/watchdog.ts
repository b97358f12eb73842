import { noteMeasured } from '@backoffice/runtime/measurement-age.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import type { GroupMember, Position } from '../kafka/kafka-connection.ts'
import type { ConsumerContext, ConsumerDefinition } from './consumer-definition.ts'
import type { Patience } from './patience.ts'

/** Checks without progress until a consumer counts as stalled. */
const CHECKS = 12
/** Checks that are left out after one that has found no lag: each asks the brokers for every topic. */
const LEFT_OUT = 2

const lagRecords = gauge(
  'consumer_lag_records',
  'Records that wait for the consumer group, as each replica sees all partitions',
)

const waitingSeconds = gauge(
  'consumer_waiting_seconds',
  'How long records of a consumer have waited for an error to pass that is not of the record',
  's',
)

interface Watched extends Required<ConsumerContext>, Pick<ConsumerDefinition<never>, 'name' | 'topics'> {
  readonly member: GroupMember
  readonly progress: Progress
  readonly patience: Patience
}

/** How often each partition went on or was tried again: then it is not stalled. Its offsets are committed later. */
export class Progress {
  readonly #steps = new Map<string, number>()
  /** When the batch of a partition began that is being processed (`performance.now()`). */
  readonly #beganAt = new Map<string, number>()

  note(partition: string): void {
    this.#steps.set(partition, this.of(partition) + 1)
  }

  of(partition: string): number {
    return this.#steps.get(partition) ?? 0
  }

  /** Processes a batch of a partition. */
  async during(partition: string, work: () => Promise<void>): Promise<void> {
    this.#beganAt.set(partition, performance.now())
    try {
      await work()
    } finally {
      this.#beganAt.delete(partition)
    }
  }

  /**
   * Whether a batch of another partition takes longer than `ms`, which holds this one up: kafkajs fetches from a broker
   * when all batches of its last answer are processed. So a stall beside such batches is found that much later.
   */
  isHeldUp(partition: string, ms: number): boolean {
    const began = performance.now() - ms
    return !this.#beganAt.has(partition) && [...this.#beganAt.values()].some((at) => at < began)
  }
}

/**
 * Measures a consumer's lag and ends the process when records wait without progress: kafkajs stops fetching after some
 * rebalances, and only a new process is sure to fetch again. Processed records are progress before their offsets are
 * committed: a long batch is not stalled while its transactions succeed, or their handler notes progress. A member
 * without partitions is not stalled while the group has others: those have the partitions. While Kafka is away nothing
 * is measured, and the age of the measurement grows. Returns a function that ends the watch.
 */
export function watchForStall(watched: Watched): () => void {
  const { name, topics, kafka, member, progress, patience, logger, fatal, stalledAfterMs } = watched
  const stalledOf = stallDetector(CHECKS)
  const measurement = `lag of ${name}`
  noteMeasured(measurement)
  const hasOthers = async () => ((await kafka.countMembers([name])).get(name) ?? 0) > 1
  let isChecking = false
  let leftOut = LEFT_OUT
  const everyMs = stalledAfterMs / CHECKS
  const check = async () => {
    waitingSeconds.record(member.assigned().size > 0 ? patience.longestSeconds() : 0, { consumer: name })
    if (isChecking || leftOut++ < LEFT_OUT) return
    isChecking = true
    try {
      const positions = await kafka.positions(name, topics)
      const lag = sum(positions.map((position) => position.lag))
      lagRecords.record(lag, { consumer: name })
      noteMeasured(measurement)
      if (lag === 0) leftOut = 0
      const assigned = member.assigned()
      const stalled = stalledOf(observationsOf(positions, assigned, progress, everyMs), patience.waiting)
      if (stalled.length > 0 && !(assigned.size === 0 && (await hasOthers())))
        fatal(`consumer ${name} is stalled at ${stalled.join(', ')}`)
    } catch (error) {
      logger.warn({ err: error, consumer: name }, 'could not measure the lag')
    } finally {
      isChecking = false
    }
  }
  const checks = setInterval(check, everyMs)
  return () => clearInterval(checks)
}

/** One observation per partition of this member. Without partitions it may be locked out, so it observes the group. */
function observationsOf(
  positions: Position[],
  assigned: ReadonlySet<string>,
  progress: Progress,
  everyMs: number,
): Observation[] {
  const own = positions.filter(({ partition }) => assigned.has(partition))
  const markOf = ({ partition, offset }: Position) => offset + progress.of(partition)
  if (own.length > 0) {
    return own.map((position) => ({
      ...position,
      mark: markOf(position),
      isHeldUp: progress.isHeldUp(position.partition, everyMs),
    }))
  }
  const lag = sum(positions.map((position) => position.lag))
  const mark = sum(positions.map(({ offset }) => offset))
  return [{ partition: 'the whole group', lag, mark }]
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

/** One partition at one time: `lag` counts the waiting records, `mark` changes with every progress. */
export interface Observation {
  readonly partition: string
  readonly lag: number
  readonly mark: number
  /** Whether it only waits for the batch of another partition. */
  readonly isHeldUp?: boolean
}

/**
 * Returns the partitions that had lag and made no progress over `limit` observations in a row, and over as many again
 * for each that waits for an error: the tries of those come first. Observations of one that is held up do not count: a
 * batch that holds others up makes progress, or is found itself. Observations are counted, not time, so a machine
 * that was suspended finds nothing stalled when it resumes.
 */
export function stallDetector(limit: number): (observations: readonly Observation[], waiting?: number) => string[] {
  let former = new Map<string, { mark: number; unmoved: number }>()
  return (observations, waiting = 0) => {
    former = new Map(
      observations.map(({ partition, lag, mark, isHeldUp = false }) => {
        const before = former.get(partition)
        const isUnmoved = lag > 0 && before?.mark === mark
        return [partition, { mark, unmoved: isUnmoved ? before.unmoved + (isHeldUp ? 0 : 1) : 0 }]
      }),
    )
    return [...former].filter(([, { unmoved }]) => unmoved >= limit * (1 + waiting)).map(([partition]) => partition)
  }
}
