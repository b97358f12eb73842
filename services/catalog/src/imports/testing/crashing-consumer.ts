import { consumer } from '@backoffice/messaging/consumer.ts'
import { connectKafka } from '@backoffice/messaging/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { applyImportBatches } from '../apply-import-batches.ts'

/** A process of its own that commits the first batch it gets and is gone before it can commit its offset. */
const [brokers = '', prefix = '', url = ''] = process.argv.slice(2)
const logger = createLogger('crashing', 'silent')
await consumer(
  applyImportBatches(() => process.kill(process.pid, 'SIGKILL')),
  {
    kafka: connectKafka({ brokers: brokers.split(','), clientId: 'crashing', prefix, logger }),
    db: openDatabase({ url, applicationName: 'crashing consumer', poolSize: 1 }),
    logger,
    fatal: () => process.exit(1),
  },
).start()
