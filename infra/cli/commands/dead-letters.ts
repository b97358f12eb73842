import { consumersOf, SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { defineCommand } from 'citty'
import { commandGroup, type Surroundings } from '../command/api-command.ts'
import { refuseOtherArguments, wholeNumber } from '../command/arguments.ts'
import { CommandError, UsageError } from '../command/command-error.ts'
import { readableAnswer } from '../command/print-answer.ts'
import { asWorker, stackServices, WITHOUT_A_STACK } from '../command/stack-services.ts'
import type { DeadLetter } from '../dead-letters/read-dead-letters.ts'
import { serviceOf, whyNotReplayable } from '../dead-letters/replayable.ts'

const SERVICES: ServiceName[] = SERVICE_NAMES.filter((name) => consumersOf(name).length > 0)
const COLUMNS = ['at', 'consumer', 'topic', 'partition', 'offset', 'key', 'parked', 'replayed', 'reason']
const DAY_MS = 24 * 60 * 60 * 1000
/** Kafka keeps them longer (contracts/topics.ts); the last week is what an operator asks for first. */
const DAYS = 7

const ARGUMENTS = {
  service: { type: 'enum', options: SERVICES, description: 'Only those of one service' },
  days: { type: 'string', description: `How many days back, ${DAYS} unless given`, valueHint: 'N' },
  json: { type: 'boolean', description: 'Print them as JSON' },
} as const

const REPLAY_ARGUMENTS = {
  consumer: { type: 'string', description: 'The consumer that could not process them', valueHint: 'NAME' },
  days: ARGUMENTS.days,
} as const

export const deadLetters = commandGroup(`Records that consumers could not process. ${WITHOUT_A_STACK}`, {
  list: defineCommand({
    meta: { description: 'List them with their reasons, oldest first, without their contents' },
    args: ARGUMENTS,
    async run({ args, data }) {
      refuseOtherArguments(ARGUMENTS, args)
      const { environment, print }: Surroundings = data
      const since = daysAgo(args.days)
      const services = SERVICES.filter((name) => args.service === undefined || name === args.service)
      const items = await deadLettersOf(services, since, environment)
      print(args.json ? `${JSON.stringify({ items }, null, 2)}\n` : readableAnswer({ items }, COLUMNS))
    },
  }),
  replay: defineCommand({
    meta: { description: 'Send those of one consumer to their topics again, each once; remove the cause first' },
    args: REPLAY_ARGUMENTS,
    async run({ args, data }) {
      refuseOtherArguments(REPLAY_ARGUMENTS, args)
      const { environment, print }: Surroundings = data
      const { consumer } = args
      if (consumer === undefined)
        throw new UsageError('--consumer is missing: the consumer that could not process them')
      const service = serviceOf(consumer)
      if (service === undefined) throw new UsageError(`--consumer ${consumer}: there is no such consumer`)
      const refusal = whyNotReplayable(consumer)
      if (refusal !== undefined) throw new CommandError(`${consumer}: not replayed, since ${refusal}`)
      const { replayDeadLetters } = await import('../dead-letters/replay-dead-letters.ts')
      const reading = { consumers: [consumer], since: daysAgo(args.days), until: new Date() }
      const { now, before } = await withServices([service], environment, (kafka, sql) =>
        replayDeadLetters(kafka, sql, reading),
      ).then(([replayed]) => replayed ?? { now: 0, before: 0 })
      print(`dead letters of ${consumer} sent to their topics again: ${now}; sent by earlier runs: ${before}\n`)
    },
  }),
})

const daysAgo = (days: string | undefined) => new Date(Date.now() - (wholeNumber('days', days) ?? DAYS) * DAY_MS)

async function deadLettersOf(
  services: readonly ServiceName[],
  since: Date,
  environment: NodeJS.ProcessEnv,
): Promise<DeadLetter[]> {
  const { readDeadLetters } = await import('../dead-letters/read-dead-letters.ts')
  const until = new Date()
  const read = await withServices(services, environment, (kafka, sql, name) => {
    const consumers = consumersOf(name).map((consumer) => consumer.name)
    return readDeadLetters(kafka, sql, { consumers, since, until })
  })
  return read.flat().sort((one, other) => one.at.localeCompare(other.at))
}

/** Runs `work` for each service with Kafka and the service's database, as its worker role. */
async function withServices<Result>(
  services: readonly ServiceName[],
  environment: NodeJS.ProcessEnv,
  work: (kafka: Kafka, sql: Sql, name: ServiceName) => Promise<Result>,
): Promise<Result[]> {
  const servers = stackServices(environment).kafka()
  // Loaded here, since no other command needs Kafka's client.
  const { connectKafka } = await import('@backoffice/messaging/kafka/kafka.ts')
  const logger = createLogger('backoffice', 'error')
  const kafka = connectKafka({ ...servers, clientId: 'backoffice dead letters', logger })
  try {
    await kafka.start()
    if (!(await kafka.isReady())) throw new CommandError(`no answer from Kafka at ${servers.brokers.join()}`)
    return await Promise.all(services.map((name) => asWorker(name, environment, (sql) => work(kafka, sql, name))))
  } finally {
    await kafka.stop()
  }
}
