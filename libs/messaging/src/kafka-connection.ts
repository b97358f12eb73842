import type { Part } from '@backoffice/runtime/process.ts'

export type RecordHeaders = Record<string, Buffer | string | (Buffer | string)[] | undefined>

export interface OutgoingRecord {
  readonly topic: string
  /** Records with the same key are in one partition and stay in order. */
  readonly key: string | null
  /** Null is a tombstone. */
  readonly value: Buffer | null
  readonly headers: RecordHeaders
}

export interface IncomingRecord extends OutgoingRecord {
  readonly partition: number
  readonly offset: string
  readonly producedAt: Date
}

/** Records of one partition in their order. */
export interface IncomingBatch {
  readonly records: readonly IncomingRecord[]
  /** Tells the group that this member is alive. Throws when the group has moved on: stop then, the records come again. */
  beat(): Promise<void>
  /** Says that the records up to this one are done; what is not settled comes again. */
  settle(last: IncomingRecord): void
  /** False once the member is to stop. */
  isRunning(): boolean
}

export interface MemberOptions {
  readonly group: string
  readonly topics: readonly string[]
  /** Batches of different partitions come side by side, at most this many. */
  readonly concurrency: number
  /**
   * The offset to begin at in a partition, named `topic/partition`, whatever position the group has: asked each time the
   * member has joined. Then nothing is committed.
   */
  readonly from?: (partition: string) => number
  onBatch(batch: IncomingBatch): Promise<void>
}

/** A running member of a consumer group. */
export interface GroupMember {
  /** The partitions this member has now, as `topic/partition`. */
  assigned(): ReadonlySet<string>
  stop(): Promise<void>
}

/** How far a group is in one partition: the next offset it reads, and how many records come from there on. */
export interface Position {
  readonly partition: string
  readonly offset: number
  readonly lag: number
}

export interface NewTopic {
  readonly name: string
  readonly partitions: number
  readonly config: Readonly<Record<string, string>>
}

/** The connection to Kafka. It is made when first needed, so a broker that is away keeps no process from starting. */
export interface Kafka extends Part {
  /**
   * Resolves when all in-sync replicas have the records. Throws RecordsRefused when the broker will never take one of
   * them, else an error after some seconds of trying; after any error the records may or may not be there.
   */
  produce(records: readonly OutgoingRecord[]): Promise<void>
  /** Joins a group, reading from the beginning where the group has no position; goes on after every failure. */
  consume(options: MemberOptions): GroupMember
  positions(group: string, topics: readonly string[]): Promise<Position[]>
  /**
   * The offset of the first record produced at that time or later, or the end, of each partition, named `topic/partition`.
   * Throws when a topic is not there.
   */
  offsetsAt(topics: readonly string[], time: Date): Promise<Map<string, number>>
  /** Names of the topics there are, without those of other prefixes, and their numbers of partitions. */
  topics(): Promise<Map<string, number>>
  createTopics(topics: readonly NewTopic[], replicationFactor: number): Promise<void>
  /**
   * Whether a broker has answered, within two seconds of being asked, since the process started. It stays so while Kafka is
   * away: the outbox takes the changes then, and requests go on being answered.
   */
  isReady(): Promise<boolean>
  /** Ends the members, then what is still being produced, then the connection. */
  stop(): Promise<void>
}

/** The broker will not take a record of the request, however often it is sent. */
export class RecordsRefused extends Error {}
