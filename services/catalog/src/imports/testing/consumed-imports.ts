import type { ImportResult } from '@backoffice/contracts/imports.ts'
import { consumer } from '@backoffice/messaging/consumer.ts'
import { encoded } from '@backoffice/messaging/testing/consumer.ts'
import { aTopic, collect, silent, testKafka } from '@backoffice/messaging/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { applyImportBatches } from '../apply-import-batches.ts'
import type { aBatch } from '../imports-under-test.ts'

const DEAD_LETTERS = 'catalog.imports.dead-letters'

/** The topics of imports, a database, and as many replicas of the catalog's consumer as a test starts. */
export async function consumedImports() {
  const [{ prefix, kafka, open }, { admin, appUrl }] = await Promise.all([
    testKafka([aTopic('imports.batches'), aTopic(DEAD_LETTERS)]),
    testDatabase('catalog'),
  ])
  const answersOf = async (importId: string): Promise<ImportResult[]> =>
    (
      await admin<{ payload: ImportResult }[]>`
        select payload from outbox where topic = 'imports.results' and key = ${importId} order by id`
    ).map(({ payload }) => payload)
  return {
    prefix,
    admin,
    appUrl,
    answersOf,
    deadLetters: () => collect(kafka, DEAD_LETTERS),
    /** Sends batches, in their order, each under the id of its import. */
    send: (...records: ReturnType<typeof aBatch>[]) =>
      kafka.produce(
        records.map((record) => ({
          topic: 'imports.batches',
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
          const answers = await answersOf(importId)
          return answers.length >= count && answers
        },
        withinMs,
      ),
    async startReplica() {
      const db = openDatabase({ url: appUrl, applicationName: 'replica', poolSize: 4 })
      const replica = consumer(
        applyImportBatches(() => undefined),
        { kafka: open(), db, logger: silent, fatal: () => undefined },
      )
      await replica.start()
      whenDone(async () => {
        await replica.stop()
        await db.stop?.()
      })
    },
  }
}
