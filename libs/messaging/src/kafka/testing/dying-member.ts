import { createLogger } from '@backoffice/runtime/logger.ts'
import { connectKafka } from '../kafka.ts'

/** A process that is a member of a group and does nothing else. Prints its number once it has partitions. */
const [brokers = '', prefix, group = '', topic = ''] = process.argv.slice(2)
const kafka = connectKafka({
  brokers: brokers.split(','),
  clientId: 'dying',
  prefix,
  logger: createLogger('test', 'silent'),
})
const member = kafka.consume({
  group,
  topics: [topic],
  concurrency: 1,
  // Longer than a test waits.
  sessionMs: 120_000,
  onBatch: async () => undefined,
})
const waiting = setInterval(() => {
  if (member.assigned().size === 0) return
  clearInterval(waiting)
  process.send?.(kafka.processNumber)
}, 20)
