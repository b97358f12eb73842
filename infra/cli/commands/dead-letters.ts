import { consumersOf, SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { defineCommand } from 'citty'
import { commandGroup, type Surroundings } from '../api-command.ts'
import { refuseOtherArguments, wholeNumber } from '../arguments.ts'
import { readableAnswer } from '../print-answer.ts'
import type { DeadLetter } from '../read-dead-letters.ts'
import { stackServices } from '../stack-services.ts'

const SERVICES: ServiceName[] = SERVICE_NAMES.filter((name) => consumersOf(name).length > 0)
const COLUMNS = ['at', 'consumer', 'topic', 'partition', 'offset', 'key', 'parked', 'reason']
const DAY_MS = 24 * 60 * 60 * 1000
/** Kafka keeps them longer (infra/kafka/topics.ts); the last week is what an operator asks for first. */
const DAYS = 7

const ARGUMENTS = {
  service: { type: 'enum', options: SERVICES, description: 'Only those of one service' },
  days: { type: 'string', description: `How many days back, ${DAYS} unless given`, valueHint: 'N' },
  json: { type: 'boolean', description: 'Print them as JSON' },
} as const

export const deadLetters = commandGroup('Records that consumers of the local stack could not process', {
  list: defineCommand({
    meta: { description: 'List them with their reasons, oldest first, without their contents' },
    args: ARGUMENTS,
    async run({ args, data }) {
      refuseOtherArguments(ARGUMENTS, args)
      const { environment, print }: Surroundings = data
      const since = new Date(Date.now() - (wholeNumber('days', args.days) ?? DAYS) * DAY_MS)
      const services = SERVICES.filter((name) => args.service === undefined || name === args.service)
      const items = await deadLettersOf(services, since, environment)
      print(args.json ? `${JSON.stringify({ items }, null, 2)}\n` : readableAnswer({ items }, COLUMNS))
    },
  }),
})

async function deadLettersOf(
  services: readonly ServiceName[],
  since: Date,
  environment: NodeJS.ProcessEnv,
): Promise<DeadLetter[]> {
  const { brokers, workerUrl } = stackServices(environment)
  // Loaded here, since no other command needs Kafka's client.
  const [{ connectKafka }, { readDeadLetters }] = await Promise.all([
    import('@backoffice/messaging/kafka.ts'),
    import('../read-dead-letters.ts'),
  ])
  const applicationName = 'backoffice dead letters'
  const logger = createLogger('backoffice', 'error')
  const kafka = connectKafka({ brokers, clientId: applicationName, prefix: environment.KAFKA_PREFIX ?? '', logger })
  const until = new Date()
  const ofService = async (name: ServiceName) => {
    const db = openDatabase({ url: workerUrl(name), applicationName, poolSize: 1 })
    const consumers = consumersOf(name).map((consumer) => consumer.name)
    return readDeadLetters(kafka, db.sql, { consumers, since, until }).finally(() => db.stop?.())
  }
  const read = await Promise.all(services.map(ofService)).finally(() => kafka.stop?.())
  return read.flat().sort((one, other) => one.at.localeCompare(other.at))
}
