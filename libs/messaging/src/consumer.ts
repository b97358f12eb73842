import type { Database } from '@backoffice/postgres/database.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import type { Part, ProcessContext } from '@backoffice/runtime/process.ts'
import { type Handling, Interrupted } from './handling.ts'
import type { GroupMember, IncomingBatch, Kafka } from './kafka-connection.ts'
import { settleRecords } from './settle-records.ts'
import { watchForStall } from './watchdog.ts'

/** What is consumed and what is done with it. */
export interface ConsumerDefinition<Value> extends Pick<Handling<Value>, 'name' | 'schema' | 'handle'> {
  /** `<service>.<what it does>`: the consumer group; its dead letters go to the topic `<name>.dead-letters`. */
  readonly name: string
  readonly topics: readonly string[]
  /** Brings a record's value into the shape needed. Members it does not name are ignored, so give no strict object. */
  readonly schema: Handling<Value>['schema']
  /**
   * Handles records of one partition in their order, in a transaction that is committed before their offset is. They can
   * come again, so what it writes has a natural unique key, or the consumer an inbox. May return what is to be called after the commit.
   */
  readonly handle: Handling<Value>['handle']
  /**
   * Whether each record stands for itself. Otherwise the records after one that is given up follow it to the dead letters, as
   * long as its key is parked, since the effect of one may rest on that of the one before.
   */
  readonly isEachIndependent?: boolean
  /**
   * Records that share a transaction, at most; 500 unless given. A function is asked before each transaction, with how many are at
   * hand, and may take its time while whoever works on what is written is busy.
   */
  readonly recordsAtOnce?: number | ((atHand: number) => Promise<number>)
}

/** A running consumer. */
export interface Consumer extends Part {
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ConsumerContext extends ProcessContext {
  readonly kafka: Kafka
  /**
   * Opened as the worker role, since records of all workspaces come together; as the app role for a consumer with an inbox,
   * which handles each in its workspace.
   */
  readonly db: Database
  /** Without progress for this long while records wait, the process is ended. A minute unless given. */
  readonly stalledAfterMs?: number
}

/** Partitions handled side by side, each on a connection of the pool. */
const CONCURRENCY = 3
const MAX_RECORDS = 500
const BEAT_EVERY_MS = 1500

const consumed = meter('consumer').createCounter('consumer_records', { description: 'Records consumed' })

/**
 * Runs a consumer: retries, isolation of records that cannot be handled, dead letters, lag and the watchdog around one
 * function. Every record is handled at least once, and the records of a key in their order.
 */
export function consumer<Value>(definition: ConsumerDefinition<Value>, context: ConsumerContext): Consumer {
  const { name, topics, recordsAtOnce = MAX_RECORDS } = definition
  const { kafka, db, logger, fatal, stalledAfterMs = 60_000 } = context
  let member: GroupMember | undefined
  let stopWatching: (() => void) | undefined
  let waits = 0

  const onBatch = (batch: IncomingBatch) =>
    whileBeating(batch, async (proceed) => {
      const handling = {
        ...definition,
        sql: db.sql,
        // Often enough for whoever waits for the database not to count as stalled.
        beginWithinMs: stalledAfterMs / 4,
        kafka,
        logger,
        proceed,
        onWait: () => waits++,
      }
      for (let from = 0; from < batch.records.length; ) {
        const atHand = batch.records.length - from
        const atOnce = typeof recordsAtOnce === 'number' ? recordsAtOnce : await recordsAtOnce(atHand)
        const records = batch.records.slice(from, from + atOnce)
        const [first, last] = [records[0], records.at(-1)]
        if (!first || !last) return
        from += records.length
        const startedAt = performance.now()
        const dead = await settleRecords(handling, records)
        batch.settle(last)
        consumed.add(records.length, { consumer: name, topic: last.topic })
        logger.info(
          {
            consumer: name,
            topic: last.topic,
            partition: last.partition,
            first_offset: first.offset,
            records: records.length,
            dead_letters: dead,
            duration_ms: Math.round(performance.now() - startedAt),
          },
          'consumed',
        )
      }
    })

  return {
    name,
    async start() {
      member = kafka.consume({ group: name, topics, concurrency: CONCURRENCY, onBatch })
      stopWatching = watchForStall({ name, topics, kafka, member, logger, fatal, stalledAfterMs, waits: () => waits })
    },
    async stop() {
      stopWatching?.()
      await member?.stop()
    },
  }
}

/** Keeps the membership alive while a batch is worked on; a batch that is interrupted is left as far as it came. */
async function whileBeating(batch: IncomingBatch, work: (proceed: () => void) => Promise<void>): Promise<void> {
  let lost: unknown
  const beats = setInterval(() => {
    batch.beat().catch((error: unknown) => {
      lost ??= error
    })
  }, BEAT_EVERY_MS)
  try {
    await work(() => {
      if (lost !== undefined || !batch.isRunning()) throw new Interrupted('the batch is no longer this member’s')
    })
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
  } finally {
    clearInterval(beats)
  }
  if (lost !== undefined) throw lost
}
