import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import { encoded } from '@backoffice/messaging/consumers/testing/consumer.ts'
import { aTopic, collect, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import type { importBatches } from '../import-batches.ts'
import type { Moment } from './crashing-imports.ts'
import { answersOf, type BatchRecord } from './import-batches.ts'

/** The topics of imports, a service's database, and as many replicas of its consumer of batches as a test starts. */
export async function consumedImports(service: string, batches: ReturnType<typeof importBatches>) {
  const deadLetters = deadLetterTopic(batches.name)
  const [{ prefix, kafka, open }, database] = await Promise.all([
    testKafka([aTopic(TOPICS.importsBatches), aTopic(deadLetters)]),
    testDatabase(service),
  ])
  const { admin, appUrl } = database
  return {
    ...database,
    answersOf: (importId: string) => answersOf(admin, importId),
    deadLetters: () => collect(kafka, deadLetters),
    /** Sends batches, in their order, each under the id of its import. */
    send: (...records: BatchRecord[]) =>
      kafka.produce(
        records.map((record) => ({
          topic: TOPICS.importsBatches,
          key: record.data.import_id,
          value: encoded(record),
          headers: {},
        })),
      ),
    /** Waits until so many batches of an import are answered, and returns the answers in their order. */
    answered: (importId: string, count: number, withinMs?: number) =>
      eventually(
        `${count} answers to ${importId}`,
        async () => {
          const answers = await answersOf(admin, importId)
          return answers.length >= count && answers
        },
        withinMs,
      ),
    async startReplica() {
      const db = openDatabase({ url: appUrl, applicationName: 'replica', poolSize: 4 })
      const replica = consumer(batches, { kafka: open(), db, logger: silent, fatal: () => undefined })
      await replica.start()
      whenDone(async () => {
        await replica.stop()
        await db.stop?.()
      })
    },
    /** Runs a script that calls `crashWithFirstBatch`, and returns the signal that ended it. */
    async crash(script: URL, moment: Moment): Promise<string> {
      const args = [backingServices().kafkaBrokers.join(), prefix, appUrl, moment]
      const crashing = fork(fileURLToPath(script), args, { execArgv: [] })
      return (await once(crashing, 'exit'))[1]
    },
  }
}
