import { setTimeout as pause } from 'node:timers/promises'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import { Kafka as KafkaClient, type LogEntry, logLevel, Partitioners, type SASLOptions } from 'kafkajs'
import { mendBrokenConnections } from './broken-connections.ts'
import { installFetchSessions } from './fetch-sessions.ts'
import { handOverFilteredBatches } from './filtered-batches.ts'
import { clientIdOf, numberOf } from './former-members.ts'
import { mendGroupMembership } from './group-membership.ts'
import { compressionOf, installCompression } from './kafka-compression.ts'
import { type Kafka, type OutgoingRecord, RecordsRefused, TopicUnavailable } from './kafka-connection.ts'
import { typeOfKafkaError } from './kafka-errors.ts'
import { RunningMember, STOP_WITHIN_MS } from './kafka-member.ts'
import { offsetRequests } from './kafka-offsets.ts'
import type { KafkaServers } from './kafka-settings.ts'
import { topicRequests } from './kafka-topics.ts'
import { readManyHeaders } from './many-headers.ts'
import { reconnectingClient } from './reconnecting-client.ts'
import { hintOf, unreached } from './refused-by-kafka.ts'
import { installRequestQueue } from './request-queue.ts'

export interface KafkaOptions extends KafkaServers {
  /** Shown in the broker's log, with the process. */
  readonly clientId: string
  readonly logger: Logger
}

/** Refusals of a record. INVALID_TIMESTAMP is none: a clock is wrong, of Kafka or of PostgreSQL, and records wait. */
const REFUSALS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD'])
/** Refusals of a topic: they last until somebody makes it, or grants the right to it. */
const TOPIC_REFUSALS = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'TOPIC_AUTHORIZATION_FAILED'])

/** About 3 s to connect, or to send to a connected broker. All set, since kafkajs has other defaults under test. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2, retries: 5 }
const REACHABLE_WITHIN_MS = 2000
/** No attempt to send begins later after the first failure. */
const SEND_WITHIN_MS = 3000
const SEND_PAUSE_MS = 200
/**
 * kafkajs (2.2.4, producer/sendMessages) must not send a failed batch again. It asks only brokers that have not
 * answered for it, also when the partitions of a lost broker have moved to one that has: those records would be lost,
 * and the batch acknowledged. It demands a number of retries that is not below 1, and NaN is not.
 */
const NO_RETRY = { retries: Number.NaN }
/** Fewer attempts for the first request, so that a refusal is known within REACHABLE_WITHIN_MS. */
const FIRST_RETRY = { ...RETRY, retries: 2 }

installCompression()
installFetchSessions()
mendBrokenConnections()
mendGroupMembership()
handOverFilteredBatches()
readManyHeaders()
installRequestQueue()

/** Opens the connection to Kafka; nothing is sent until it is used. */
export function connectKafka({ clientId, logger, ...servers }: KafkaOptions): Kafka {
  const { brokers, prefix = '', tls, sasl } = servers
  const ownId = clientIdOf(clientId)
  const client = (level: logLevel, retrying = RETRY) =>
    new KafkaClient({
      brokers: inTurnFromAny(brokers),
      clientId: ownId,
      ...(tls && { ssl: { rejectUnauthorized: true, ...(tls.ca !== undefined && { ca: tls.ca }) } }),
      ...(sasl && { sasl: { ...sasl } as SASLOptions }),
      retry: retrying,
      connectionTimeout: 3000,
      logLevel: level,
      logCreator: () => (entry) => logKafkajs(logger, entry),
    })
  const producer = reconnectingClient(() =>
    client(logLevel.ERROR).producer({
      idempotent: true,
      retry: NO_RETRY,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    }),
  )
  const admin = reconnectingClient(() => client(logLevel.ERROR).admin({ retry: { retries: 1 } }))
  const members = new Set<RunningMember>()
  let wasReached = false

  // One request at a time: kafkajs gives the sequence numbers of a failed request to the next one. The broker would
  // take that one for a repetition, acknowledge it and drop it.
  let sending: Promise<unknown> = Promise.resolve()
  const produce = (records: readonly OutgoingRecord[], confirm?: () => Promise<void>) => {
    const byTopic = Map.groupBy(records, ({ topic }) => prefix + topic)
    const timestamp = String(currentTime().getTime())
    const topicMessages = [...byTopic].map(([topic, messages]) => ({
      topic,
      messages: messages.map((message) => ({ ...message, timestamp })),
    }))
    const compression = compressionOf(records)
    let isConfirmed = true
    const send = () =>
      producer.use(async (open) => {
        isConfirmed = false
        await confirm?.()
        isConfirmed = true
        return open.sendBatch({ acks: -1, compression, topicMessages })
      })
    let endsAt: number | undefined
    const pauseAfter = (error: unknown) => {
      endsAt ??= performance.now() + SEND_WITHIN_MS
      return !isConfirmed || refusalOf(error) || performance.now() > endsAt ? undefined : SEND_PAUSE_MS
    }
    // Each attempt sends the whole batch, in its order, by a new producer: what has arrived before comes twice.
    const sent = sending.then(() => retry(send, pauseAfter))
    sending = sent.catch(() => undefined)
    return sent.then(
      () => undefined,
      (error: unknown) => {
        throw refusalOf(error) ?? error
      },
    )
  }

  const reach = async () => {
    if (wasReached) return
    const first = reconnectingClient(() => client(logLevel.ERROR, FIRST_RETRY).admin())
    const answered = first
      .use((open) => open.describeCluster())
      .then(() => {
        wasReached = true
      })
      .catch((error: unknown) => {
        throw unreached(error, servers)
      })
      .finally(first.close)
    const late = pause(REACHABLE_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${REACHABLE_WITHIN_MS / 1000} s${hintOf(servers)}`)
    })
    await Promise.race([answered, late])
  }

  return {
    name: 'kafka',
    processNumber: numberOf(ownId),
    ...offsetRequests(admin, prefix),
    ...topicRequests(admin, prefix),
    produce,
    consume(options) {
      const member = new RunningMember({ client: () => client(logLevel.WARN), prefix, retry: RETRY, logger }, options)
      members.add(member)
      void member.ended.then(() => members.delete(member))
      return member
    },
    async removeMembersOf(processNumbers) {
      await Promise.all([...members].map((member) => member.remove(new Set(processNumbers))))
    },
    reach,
    async start() {
      await reach().catch((error: unknown) => {
        if (error instanceof ConfigurationError) throw error
        logger.warn({ err: error }, `Kafka does not answer${hintOf(servers)}`)
      })
    },
    async stop() {
      const closed = async () => {
        await Promise.all([...members].map((member) => member.stop()))
        await sending
        await Promise.all([producer.close(), admin.close()])
      }
      await Promise.race([closed(), pause(STOP_WITHIN_MS, undefined, { ref: false })])
    },
  }
}

/** The brokers from any one on: one that does not answer is not the first to be asked by every client. */
function inTurnFromAny(brokers: readonly string[]): string[] {
  const first = Math.floor(Math.random() * brokers.length)
  return [...brokers.slice(first), ...brokers.slice(0, first)]
}

/** Logs as warnings: kafkajs logs an error for each attempt that is repeated. */
function logKafkajs(logger: Logger, { namespace, log }: LogEntry): void {
  const { message, timestamp: _, logger: _name, ...details } = log
  logger.warn({ kafkajs: { namespace, ...details } }, message)
}

/** What is refused, when sending the same again would not help; undefined for other errors. */
function refusalOf(error: unknown): RecordsRefused | TopicUnavailable | undefined {
  if (!(error instanceof Error)) return undefined
  const type = typeOfKafkaError(error) ?? ''
  if (REFUSALS.has(type)) return new RecordsRefused(error.message, { cause: error })
  if (TOPIC_REFUSALS.has(type)) return new TopicUnavailable(error.message, { cause: error })
  return undefined
}
