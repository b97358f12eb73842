import { createLogger } from '@backoffice/runtime/logger.ts'
import { connectKafka } from '../../kafka/kafka.ts'
import { recordSerializer } from '../../registry/schema-registry.ts'
import { outboxRelay } from '../relay.ts'

/**
 * A relay that stops itself with SIGSTOP just before its second request to Kafka. Prints `stops`, and `goes on` once
 * that request is over.
 */
const [url = '', broker = '', prefix = '', registryUrl = ''] = process.argv.slice(2)
const logger = createLogger('suspended', 'silent')
const kafka = connectKafka({ brokers: [broker], clientId: 'suspended', prefix, logger })
let requests = 0
const relay = outboxRelay({
  url,
  schema: 'catalog',
  serialize: recordSerializer(registryUrl),
  logger,
  pollMs: 50,
  kafka: {
    ...kafka,
    produce(...sent) {
      if (++requests !== 2) return kafka.produce(...sent)
      process.stdout.write('stops\n')
      process.kill(process.pid, 'SIGSTOP')
      return kafka.produce(...sent).finally(() => process.stdout.write('goes on\n'))
    },
  },
})
await relay.start()
