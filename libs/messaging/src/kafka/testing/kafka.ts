import { randomUUID } from 'node:crypto'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { createTopics } from '../create-topics.ts'
import { connectKafka } from '../kafka.ts'
import type { IncomingRecord, Kafka, NewTopic } from '../kafka-connection.ts'

/** A log nobody reads. */
export const silent = createLogger('test', 'silent')

export const aTopic = (name: string, config: NewTopic['config'] = {}): NewTopic => ({ name, partitions: 3, config })

/** Topics of one test file, on the shared broker unless told otherwise, and connections to them. */
export async function testKafka(topics: readonly NewTopic[], brokers = backingServices().kafkaBrokers) {
  const prefix = `test-${randomUUID()}.`
  await createTopics(brokers, topics, { prefix, replicationFactor: 1 })
  const open = (): Kafka => {
    const kafka = connectKafka({ brokers, clientId: 'test', prefix, logger: silent })
    whenDone(() => kafka.stop())
    return kafka
  }
  return { prefix, open, kafka: open() }
}

/** Collects what comes on topics, from their beginning, in a group of its own. */
export function collect(kafka: Kafka, ...topics: string[]) {
  const records: IncomingRecord[] = []
  const member = kafka.consume({
    group: `collect-${randomUUID()}`,
    topics,
    concurrency: 1,
    async onBatch(batch) {
      records.push(...batch.records)
      const last = batch.records.at(-1)
      if (last) batch.markProcessed(last)
    },
  })
  return {
    records,
    assigned: () => member.assigned(),
    /** Waits until so many records have come, and returns them all. */
    async atLeast(count: number, withinMs?: number): Promise<IncomingRecord[]> {
      await eventually(`${count} records on ${topics}, so far`, () => records.length >= count, withinMs)
      return records
    },
  }
}
