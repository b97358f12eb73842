// @ts-expect-error -- it has no types of its own
import KafkajsBroker from 'kafkajs/src/broker/index.js'
import { decodingReplaced } from './unreadable-batches.ts'

interface Partition {
  readonly partition: number
  readonly fetchOffset: string
}

interface Partitions {
  readonly topic: string
  readonly partitions: readonly Partition[]
}

interface FetchOptions {
  readonly topics: readonly Partitions[]
  /** How long the broker waits for a first record, in milliseconds. */
  readonly maxWaitTime: number
}

interface FetchAnswer {
  /** That of the session alone: those of partitions are thrown. */
  readonly errorCode: number
  /** 0 or absent from a broker that begins no session. */
  readonly sessionId?: number
  readonly responses: readonly unknown[]
}

type Protocol = (request: object) => object

interface Broker {
  lookupRequest(apiKey: number, definition: object): Protocol
  fetch(options: FetchOptions): Promise<FetchAnswer>
}

/** What a broker remembers of the last fetch of a member. */
interface Session {
  readonly id: number
  readonly epoch: number
  /** The offset to fetch from, by partition, by topic. */
  readonly offsets: ReadonlyMap<string, ReadonlyMap<number, string>>
}

const LAST_EPOCH = 2 ** 31 - 1

const { prototype }: { prototype: Broker } = KafkajsBroker
const fetchOnce = prototype.fetch
const sessions = new WeakMap<Broker, Session>()
/** Ends the wait for an answer. */
const waits = new WeakMap<object, () => void>()
/** When waits are to end (`performance.now()`). */
const ends = new WeakMap<object, readonly number[]>()
/** kafkajs resumes a partition by a timer: this margin lets it fire before the fetch ends. */
const TIMER_MS = 10

/**
 * Lets kafkajs (2.2.4) fetch in sessions (KIP-227): a request names the partitions that differ from the one before, and
 * an answer those that have something new. Without them each lone record costs both sides work for all partitions.
 */
export function installFetchSessions(): void {
  prototype.fetch = fetchInSession
}

interface Cluster {
  readonly brokerPool: { readonly brokers: Readonly<Record<string, object>> }
}

/** Ends the waits of a member for records; its cluster is that of kafkajs. To be called when the member is to stop. */
export function endFetches(cluster: object): void {
  for (const broker of brokersOf(cluster)) waits.get(broker)?.()
}

/** Ends the fetches that begin from now on in `ms` milliseconds: a partition that has paused is fetched then. */
export function endFetchesIn(cluster: object, ms: number): void {
  const now = performance.now()
  const ahead = (broker: object) => (ends.get(broker) ?? []).filter((end) => end > now)
  for (const broker of brokersOf(cluster)) ends.set(broker, [...ahead(broker), now + ms + TIMER_MS])
}

const brokersOf = (cluster: object) => Object.values((cluster as Cluster).brokerPool.brokers)

function waitUntilEnd(broker: Broker, longestMs: number): number {
  const known = ends.get(broker)
  if (known === undefined) return longestMs
  const now = performance.now()
  const ahead = known.filter((end) => end > now)
  if (ahead.length > 0) ends.set(broker, ahead)
  else ends.delete(broker)
  return Math.ceil(Math.min(longestMs, ...ahead.map((end) => end - now)))
}

async function fetchInSession(this: Broker, options: FetchOptions): Promise<FetchAnswer> {
  const session = sessions.get(this)
  // What the broker knows after an error is unknown: then a new session begins, with all partitions.
  sessions.delete(this)
  const { topics, ...rest } = session === undefined ? whole(options.topics) : changes(session, options.topics)
  const inSession: Broker = Object.create(this, {
    lookupRequest: {
      value: (apiKey: number, definition: object): Protocol => {
        const protocol = this.lookupRequest(apiKey, definition)
        return (request) => decodingReplaced(protocol({ ...request, ...rest }))
      },
    },
  })
  const maxWaitTime = waitUntilEnd(this, options.maxWaitTime)
  const answer = await untilEnded(this, fetchOnce.call(inSession, { ...options, topics, maxWaitTime }))
  // The broker has forgotten the session: it was started again, or many other sessions were used since.
  if (session !== undefined && answer.errorCode !== 0) return fetchInSession.call(this, options)
  if (answer.sessionId) {
    const epoch = rest.sessionEpoch === LAST_EPOCH ? 1 : rest.sessionEpoch + 1
    sessions.set(this, { id: answer.sessionId, epoch, offsets: offsetsOf(options.topics) })
  }
  return answer
}

function untilEnded(broker: Broker, answered: Promise<FetchAnswer>): Promise<FetchAnswer> {
  const { promise: ended, resolve } = Promise.withResolvers<FetchAnswer>()
  waits.set(broker, () => resolve({ errorCode: 0, responses: [] }))
  // Once a stop has ended the wait, nobody needs the answer or its error. Before, the race throws the error.
  answered.catch(() => undefined)
  return Promise.race([answered, ended])
}

/** A request that begins a session. */
const whole = (topics: readonly Partitions[]) => ({ sessionId: 0, sessionEpoch: 0, forgottenTopics: [], topics })

function changes({ id, epoch, offsets }: Session, topics: readonly Partitions[]) {
  const wanted = offsetsOf(topics)
  return {
    sessionId: id,
    sessionEpoch: epoch,
    topics: topics.flatMap(({ topic, partitions }) => {
      const changed = partitions.filter(
        ({ partition, fetchOffset }) => offsets.get(topic)?.get(partition) !== fetchOffset,
      )
      return changed.length > 0 ? { topic, partitions: changed } : []
    }),
    forgottenTopics: [...offsets].flatMap(([topic, before]) => {
      const partitions = [...before.keys()].filter((partition) => !wanted.get(topic)?.has(partition))
      return partitions.length > 0 ? { topic, partitions } : []
    }),
  }
}

const offsetsOf = (topics: readonly Partitions[]) =>
  new Map(
    topics.map(({ topic, partitions }) => [
      topic,
      new Map(partitions.map(({ partition, fetchOffset }) => [partition, fetchOffset])),
    ]),
  )
