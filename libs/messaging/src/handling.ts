import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { TransactionSql } from 'postgres'
import { z } from 'zod'
import type { IncomingRecord, Kafka } from './kafka-connection.ts'
import { decodeRecord } from './wire-format.ts'

/** A record as a handler gets it: `value` as the consumer's schema made it, `key` '' where there is none. */
export interface Received<Value> {
  readonly topic: string
  readonly partition: number
  readonly offset: string
  readonly key: string
  readonly value: Value
  readonly traceparent: string | undefined
}

/** The shape of a record's value: one for all, or one for each topic. */
export type RecordSchema<Value> = z.ZodType<Value> | ((topic: string) => z.ZodType<Value>)

/** Called once the transaction is committed. What it fails at is logged and not tried again. */
export type AfterCommit = () => void

/** What it takes to handle a batch of records. */
export interface Handling<Value> {
  readonly name: string
  readonly schema: RecordSchema<Value>
  /** Whether records of a key have nothing to do with each other: then one that is given up takes no later one with it. */
  readonly isEachIndependent?: boolean
  handle(records: Received<Value>[], tx: TransactionSql): Promise<AfterCommit | undefined>
  readonly sql: Sql
  /** A transaction that has not begun by then is tried again, in milliseconds. */
  readonly beginWithinMs: number
  readonly kafka: Kafka
  readonly logger: Logger
  /** Asked between steps; throws Interrupted when the records are no longer this member's to handle. */
  proceed(): void
  /** Told of every wait for better circumstances. */
  onWait(): void
}

/** The batch is given up unfinished, because this member stops or its group has moved on; it comes again. */
export class Interrupted extends Error {}

const MAX_WAIT_MS = 1000

/** Does `work` again, with growing waits and without end, as long as it fails for a reason that is worth waiting. */
export async function patiently<Result>(
  { name, logger, proceed, onWait }: Pick<Handling<unknown>, 'name' | 'logger' | 'proceed' | 'onWait'>,
  work: () => Promise<Result>,
  isWorthWaiting: (error: unknown) => boolean,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    proceed()
    try {
      return await work()
    } catch (error) {
      if (!isWorthWaiting(error)) throw error
      onWait()
      logger.warn({ err: error, consumer: name, failures }, 'waiting for better circumstances')
      await pause(Math.min(50 * 2 ** failures, MAX_WAIT_MS))
    }
  }
}

/**
 * Decodes a record and brings it into the consumer's shape; throws when it does not fit, naming each member by its path. Null
 * is a tombstone's value.
 */
export function receivedOf<Value>(record: IncomingRecord, schema: RecordSchema<Value>): Received<Value> {
  const { topic, partition, offset, key, value, headers } = record
  const shape = typeof schema === 'function' ? schema(topic) : schema
  const read = shape.safeParse(value === null ? null : decodeRecord(value))
  if (!read.success) throw new Error(read.error.issues.map(problemOf).join('; '))
  return {
    topic,
    partition,
    offset,
    key: key ?? '',
    value: read.data,
    traceparent: headers.traceparent?.toString(),
  }
}

const problemOf = ({ path, message }: z.core.$ZodIssue): string => `${z.core.toDotPath(path) || 'value'}: ${message}`
