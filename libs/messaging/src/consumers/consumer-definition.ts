import type { Database, Sql } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { ProcessContext } from '@backoffice/runtime/process.ts'
import type { TransactionSql } from 'postgres'
import type { Kafka } from '../kafka/kafka-connection.ts'
import type { ReceivedRecord, RecordSchema } from './received-records.ts'

/** What the function after the commit returns when the records take a further transaction: they come again. */
export const AGAIN = Symbol('again')

/** One that takes long calls `noteProgress` now and then: without progress the consumer counts as stalled. */
export type Handle<Value> = (
  records: ReceivedRecord<Value>[],
  tx: TransactionSql,
  noteProgress?: () => void,
) => Promise<(() => unknown) | undefined>

/** A consumer's topics and handler. */
export interface ConsumerDefinition<Value> {
  /** Its group: `<service>.<what it does>`. Its dead letters go to the topic `<name>.dead-letters`. */
  readonly name: string
  readonly topics: readonly string[]
  /** Validates a record's value. Not a strict object, since records of newer producers have more members. */
  readonly schema: RecordSchema<Value>
  /**
   * Handles records of one partition in their order, in a transaction that commits before their offset does. Records
   * can come again, so the rows it writes have a natural unique key, or the consumer has an inbox. The function that it
   * returns is called after the commit, and may return AGAIN; errors of that function are logged and not retried.
   */
  readonly handle: Handle<Value>
  /**
   * Handles records as `handle` does, in one statement that commits by itself; undefined when it has done nothing since
   * they take more. Then, and when it takes too long, `handle` does it. For records that are independent.
   */
  readonly handleAtOnce?: (records: ReceivedRecord<Value>[], sql: Sql) => Promise<(() => void) | undefined>
  /** Called when `handle` has waited too long for a lock: stores the records for later. Waits for nobody. */
  readonly postpone?: Handle<Value>
  /** Unless the records of a key are independent, those after a rejected one go to the dead letters too. */
  readonly isEachIndependent?: boolean
  /**
   * The most records in one transaction; 500 unless given. A function is called before each transaction with the number
   * of records at hand. It may delay its answer to slow the consumer down.
   */
  readonly batchSize?: number | ((atHand: number) => Promise<number>)
  /**
   * The pause after a batch of 20 to 199 records, in milliseconds; 0 unless given. Such a batch is often part of
   * something large, such as an import. More records arrive during the pause, so they need fewer transactions.
   */
  readonly gatherMs?: number
  /**
   * The pause after a smaller batch that came within the same time after the one before, in milliseconds; none unless
   * given. Records of a stream are gathered so, and one that comes alone waits for none.
   */
  readonly streamMs?: () => number
}

/** A consumer that runs, with the topics it reads. */
export interface Consumer extends Component {
  readonly topics: readonly string[]
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ConsumerContext extends ProcessContext {
  readonly kafka: Kafka
  /** Of the worker role, since a batch has records of all workspaces; of the app role for a consumer with an inbox. */
  readonly db: Database
  /** Ends the process after so long without progress while records wait, in milliseconds; a minute unless given. */
  readonly stalledAfterMs?: number
  /** How long a record waits that may meet a bug of ours (`causeOf`), in milliseconds; 5 minutes unless given. */
  readonly patienceMs?: number
  /** Called after records were processed. */
  readonly onProcessed?: () => void
}
