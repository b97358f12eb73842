import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { connectKafka } from '../../kafka/kafka.ts'
import { consumer } from '../consumer.ts'
import { Note } from './note.ts'

/** A process of its own that commits the first records it gets and is gone before it can commit their offset. */
const [brokers = '', prefix = '', name = '', url = ''] = process.argv.slice(2)
const logger = createLogger('crashing', 'silent')
const kafka = connectKafka({ brokers: brokers.split(','), clientId: 'crashing', prefix, logger })
const db = openDatabase({ url, applicationName: 'crashing consumer', poolSize: 1 })
await consumer(
  {
    name,
    topics: ['notes'],
    schema: Note,
    async handle(records, tx) {
      const rows = records.map(({ key, value }) => ({ key, name: value.name }))
      await tx`insert into note ${tx(rows)} on conflict do nothing`
      return () => process.kill(process.pid, 'SIGKILL')
    },
  },
  {
    // Much longer than a test waits.
    kafka: { ...kafka, consume: (options) => kafka.consume({ ...options, sessionMs: 300_000 }) },
    db,
    logger,
    fatal: () => process.exit(1),
  },
).start()
