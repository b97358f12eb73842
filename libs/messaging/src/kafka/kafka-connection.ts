import type { Component } from '@backoffice/runtime/component.ts'
import type { UnreadableBatch } from './unreadable-batches.ts'

/** For `offsetsAt`: after every record, whatever time it has. */
export const END = new Date(8.64e15)

export interface OutgoingRecord {
  readonly topic: string
  /** Records with the same key are in one partition and stay in order. */
  readonly key: string | null
  /** Null is a tombstone. */
  readonly value: Buffer | null
  readonly headers: Record<string, Buffer | string | (Buffer | string)[] | undefined>
}

export interface IncomingRecord extends OutgoingRecord {
  readonly partition: number
  readonly offset: string
  readonly producedAt: Date
  /** A batch that this record stands for, without key and value: it has the last offset. */
  readonly unreadable?: UnreadableBatch
}

/** Records of one partition in their order; none where Kafka has only ends of transactions, or aborted records. */
export interface IncomingBatch {
  readonly records: readonly IncomingRecord[]
  /** Named `topic/partition`. */
  readonly partition: string
  /** The offset behind it. The end of a transaction may be between the last record and this one. */
  readonly next: number
  /** Tells the group that this member is alive. Throws when the group has removed it: stop, the records come again. */
  heartbeat(): Promise<void>
  /** Marks the records up to this one to be committed a moment later. Records that are not committed come again. */
  markProcessed(last: IncomingRecord): void
  /** Fetches nothing of this partition for so long, in milliseconds. */
  coolDown(ms: number): void
  /** False once the member is to stop. */
  isRunning(): boolean
}

export interface MemberOptions {
  readonly group: string
  readonly topics: readonly string[]
  /** The most partitions whose batches come at the same time. */
  readonly concurrency: number
  /**
   * The offset to begin at in a partition, named `topic/partition`, instead of the group's position. Called each time
   * the member has joined. With it, no offsets are committed.
   */
  readonly from?: (partition: string) => number
  /** How long the group keeps the partitions of a member that has died, in milliseconds. */
  readonly sessionMs?: number
  onBatch(batch: IncomingBatch): Promise<void>
  /** Called each time the member has joined, with the partitions it has from now on, as `topic/partition`. */
  onAssigned?(partitions: ReadonlySet<string>): void
}

/** A running member of a consumer group. */
export interface GroupMember {
  /** The partitions this member has now, as `topic/partition`. */
  assigned(): ReadonlySet<string>
  stop(): Promise<void>
}

/** A group's position in one partition: the next offset it reads, and the number of records from there on. */
export interface Position {
  readonly partition: string
  readonly offset: number
  readonly lag: number
  /** Whether the group has processed a record of the partition, or noted that there was none. */
  readonly hasBegun: boolean
}

/** A topic as the code declares it. */
export interface NewTopic {
  readonly name: string
  readonly partitions: number
  readonly config: Readonly<Record<string, string>>
  /** The consumer groups that read it. */
  readonly readers?: readonly string[]
}

/** A topic as it is to be on the brokers. */
export interface DeclaredTopic extends NewTopic {
  /** Copies of each record. */
  readonly replicas: number
}

/** A topic as the brokers have it. */
export interface ExistingTopic {
  readonly partitions: number
  /** Copies of each record, in the partition with the fewest. */
  readonly replicas: number
  /** Every setting that is in force, also those that the topic takes from the brokers. */
  readonly config: Readonly<Record<string, string>>
}

/** The connection to Kafka. It is made when first needed, so a process starts without a broker too. */
export interface Kafka extends Component {
  /** Tells the clients of this process from those of others. */
  readonly processNumber: number
  /**
   * Resolves when all in-sync replicas have the records. Throws RecordsRefused when the broker will never take one of
   * them, TopicUnavailable when it takes no record of one of the topics, else an error after some seconds of trying;
   * after any error the records may or may not be there. Calls `confirm` before each attempt, once connected: when it
   * throws, sends nothing more.
   */
  produce(records: readonly OutgoingRecord[], confirm?: () => Promise<void>): Promise<void>
  /** Joins a group and reads from the beginning where the group has no position; joins again after every failure. */
  consume(options: MemberOptions): GroupMember
  /**
   * Removes the members of processes that have died from the groups that this one is in: their partitions need not wait
   * for the end of their sessions. A living member that is removed joins again.
   */
  removeMembersOf(processNumbers: readonly number[]): Promise<void>
  positions(group: string, topics: readonly string[]): Promise<Position[]>
  /** By partition (`topic/partition`): the first offset from that time on, or the end. Throws for an unknown topic. */
  offsetsAt(topics: readonly string[], time: Date): Promise<Map<string, number>>
  /** Those of the topics that exist, by name. */
  topics(names: readonly string[]): Promise<Map<string, ExistingTopic>>
  createTopics(topics: readonly DeclaredTopic[]): Promise<void>
  /** Changes settings of a topic; its others stay. */
  configureTopic(name: string, config: NewTopic['config']): Promise<void>
  /** Gives a topic so many partitions in all: new records of a key may come to another one then. */
  addPartitions(name: string, count: number): Promise<void>
  /** The number of running members of each group. */
  countMembers(groups: readonly string[]): Promise<Map<string, number>>
  /**
   * Asks a broker for up to two seconds, unless one has answered since the process started. Throws the reason:
   * ConfigurationError when Kafka or TLS refuses.
   */
  reach(): Promise<void>
  /** Waits two seconds for an answer. Throws ConfigurationError when Kafka or TLS refuses, not when Kafka is away. */
  start(): Promise<void>
  /** Ends the members, then what is still being produced, then the connection. */
  stop(): Promise<void>
}

/** The broker will never accept a record of the request. */
export class RecordsRefused extends Error {}

/** A topic of the request is missing, or closed to this user. Kafka does not say which one. */
export class TopicUnavailable extends Error {}
