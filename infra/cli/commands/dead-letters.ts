import { consumersOf, SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { checkedCommand, commandGroup } from '../command/api-command.ts'
import { wholeNumber } from '../command/arguments.ts'
import { CommandError, UsageError } from '../command/command-error.ts'
import { readableAnswer } from '../command/print-answer.ts'
import { asWorker, kafkaOf, WITHOUT_A_STACK } from '../command/stack-services.ts'
import type { DeadLetter } from '../dead-letters/read-dead-letters.ts'
import { serviceOf, whyNotReplayable } from '../dead-letters/replayable.ts'

const SERVICES: ServiceName[] = SERVICE_NAMES.filter((name) => consumersOf(name).length > 0)
const COLUMNS = ['at', 'consumer', 'topic', 'partition', 'offset', 'key', 'parked', 'replayed', 'reason']
const DAY_MS = 24 * 60 * 60 * 1000
/** Kafka keeps them longer (contracts/topics.ts); the last week is what an operator asks for first. */
const DAYS = 7

const DAYS_ARGUMENT = {
  type: 'string',
  description: `How many days back, ${DAYS} unless given`,
  valueHint: 'N',
} as const

export const deadLetters = commandGroup(`Records that consumers could not process. ${WITHOUT_A_STACK}`, {
  list: checkedCommand(
    'List them with their reasons, oldest first, without their contents',
    {
      service: { type: 'enum', options: SERVICES, description: 'Only those of one service' },
      days: DAYS_ARGUMENT,
      json: { type: 'boolean', description: 'Print them as JSON' },
    },
    async ({ service, days, json }, { environment, print }) => {
      const services = SERVICES.filter((name) => service === undefined || name === service)
      const items = await deadLettersOf(services, daysAgo(days), environment)
      print(json ? `${JSON.stringify({ items }, null, 2)}\n` : readableAnswer({ items }, COLUMNS))
    },
  ),
  replay: checkedCommand(
    'Send those of one consumer to their topics again, each once; remove the cause first',
    {
      consumer: { type: 'string', description: 'The consumer that could not process them', valueHint: 'NAME' },
      days: DAYS_ARGUMENT,
    },
    async ({ consumer, days }, { environment, print }) => {
      if (consumer === undefined)
        throw new UsageError('--consumer is missing: the consumer that could not process them')
      const service = serviceOf(consumer)
      if (service === undefined) throw new UsageError(`--consumer ${consumer}: there is no such consumer`)
      const refusal = whyNotReplayable(consumer)
      if (refusal !== undefined) throw new CommandError(`${consumer}: not replayed, since ${refusal}`)
      const { replayDeadLetters } = await import('../dead-letters/replay-dead-letters.ts')
      const reading = { consumers: [consumer], since: daysAgo(days), until: new Date() }
      const { now, before } = await withKafka(environment, (kafka) =>
        asWorker(service, environment, (sql) => replayDeadLetters(kafka, sql, reading)),
      )
      print(`dead letters of ${consumer} sent to their topics again: ${now}; sent by earlier runs: ${before}\n`)
    },
  ),
})

const daysAgo = (days: string | undefined) => new Date(Date.now() - (wholeNumber('days', days) ?? DAYS) * DAY_MS)

/** The dead letters of services, oldest first. */
async function deadLettersOf(
  services: readonly ServiceName[],
  since: Date,
  environment: NodeJS.ProcessEnv,
): Promise<DeadLetter[]> {
  const { readDeadLetters } = await import('../dead-letters/read-dead-letters.ts')
  const until = new Date()
  const read = await withKafka(environment, (kafka) =>
    Promise.all(
      services.map((name) => {
        const consumers = consumersOf(name).map((consumer) => consumer.name)
        return asWorker(name, environment, (sql) => readDeadLetters(kafka, sql, { consumers, since, until }))
      }),
    ),
  )
  return read.flat().sort((one, other) => one.at.localeCompare(other.at))
}

/** Runs `work` with a connection to Kafka. */
async function withKafka<Result>(
  environment: NodeJS.ProcessEnv,
  work: (kafka: Kafka) => Promise<Result>,
): Promise<Result> {
  const servers = kafkaOf(environment)
  // Loaded here, since no other command needs Kafka's client.
  const { connectKafka } = await import('@backoffice/messaging/kafka/kafka.ts')
  const logger = createLogger('backoffice', 'error')
  const kafka = connectKafka({ ...servers, clientId: 'backoffice dead letters', logger })
  try {
    await kafka.start()
    await kafka.reach().catch(() => {
      throw new CommandError(`no answer from Kafka at ${servers.brokers.join()}`)
    })
    return await work(kafka)
  } finally {
    await kafka.stop()
  }
}
