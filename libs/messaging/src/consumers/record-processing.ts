import type { Sql } from '@backoffice/postgres/database.ts'
import type { TransactionSql } from 'postgres'
import type { IncomingRecord, Kafka } from '../kafka/kafka-connection.ts'
import type { HalvedBatches } from './halved-batches.ts'
import type { ReceivedRecord, RecordSchema } from './received-records.ts'
import type { RetryOptions } from './retry.ts'

export type Handle<Value> = (records: ReceivedRecord<Value>[], tx: TransactionSql) => Promise<(() => void) | undefined>

/** The handler of a consumer, and what runs around it. */
export interface RecordProcessing<Value> extends RetryOptions {
  /** Validates a record's value. Not a strict object, since records of newer producers have more members. */
  readonly schema: RecordSchema<Value>
  /**
   * Whether the records of a key are independent. If not, the key of a rejected record is parked: its later records go
   * to the dead letters too, since they may build on the rejected one.
   */
  readonly isEachIndependent?: boolean
  /**
   * Handles records of one partition in their order, in a transaction that commits before their offset does. Records
   * can come again, so the rows it writes have a natural unique key, or the consumer has an inbox. The function that it
   * returns is called after the commit; errors of that function are logged and not retried.
   */
  readonly handle: Handle<Value>
  /** Called instead of `handle` when that has waited too long for a lock: stores the records for later. Waits for nobody. */
  readonly postpone?: Handle<Value>
  readonly sql: Sql
  /** A transaction that has not begun by then is tried again, in milliseconds. */
  readonly beginWithinMs: number
  readonly kafka: Kafka
  readonly halvedBatches: HalvedBatches
  /** Called when all records up to this one are committed or in the dead letters. */
  onProcessed(last: IncomingRecord): void
  /** Keeps the partition's records back for so long, in milliseconds. */
  rest(ms: number): void
}

/** A record with its validated value. */
export interface ParsedRecord<Value> {
  readonly record: IncomingRecord
  readonly received: ReceivedRecord<Value>
}
