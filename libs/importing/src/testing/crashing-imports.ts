import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import type { importBatches } from '../import-batches.ts'

/** When the process dies: before the batch writes to the outbox, or between its commit and that of the offset. */
export type Moment = 'BEFORE_ANSWER' | 'AFTER_COMMIT'

/** Makes this process a consumer of import batches that kills itself with the first one, as its arguments say. */
export async function crashWithFirstBatch(batches: (wake: () => void) => ReturnType<typeof importBatches>) {
  const [brokers = '', prefix = '', url = '', moment] = process.argv.slice(2)
  const logger = createLogger('crashing', 'silent')
  const crash = () => process.kill(process.pid, 'SIGKILL')
  const db = openDatabase({
    url,
    applicationName: 'crashing consumer',
    poolSize: 1,
    onStatement: (statement) => moment === 'BEFORE_ANSWER' && statement.includes('insert into outbox') && crash(),
  })
  const kafka = connectKafka({ brokers: brokers.split(','), clientId: 'crashing', prefix, logger })
  await consumer(batches(crash), { kafka, db, logger, fatal: () => process.exit(1) }).start()
}
