import { parsedJson } from '@backoffice/runtime/parsed-json.ts'
import { z } from 'zod'
import type { IncomingRecord } from '../kafka/kafka-connection.ts'

/** A decoded record: `value` is the output of the consumer's schema; `key` is '' for a record without a key. */
export interface ReceivedRecord<Value> extends Pick<IncomingRecord, 'topic' | 'partition' | 'offset'> {
  readonly key: string
  readonly value: Value
  readonly traceparent: string | undefined
}

/** The name of a record's partition. */
export const partitionOf = ({ topic, partition }: IncomingRecord): string => `${topic}/${partition}`

/** The schema of a record's value: one for all topics, or one for each topic. */
export type RecordSchema<Value> = z.ZodType<Value> | ((topic: string) => z.ZodType<Value>)

const LONGEST_KEY = 255

/**
 * Decodes a record and validates its value; null is a tombstone. Throws, with the path of each wrong member, and for a
 * batch that cannot be read.
 */
export function parseRecord<Value>(record: IncomingRecord, schema: RecordSchema<Value>): ReceivedRecord<Value> {
  const { topic, partition, offset, key, value, headers, unreadable } = record
  if (unreadable) {
    const { firstOffset, lastOffset, reason } = unreadable
    throw new Error(`the batch of the offsets ${firstOffset} to ${lastOffset} cannot be read: ${reason}`)
  }
  if ((key?.length ?? 0) > LONGEST_KEY) throw new Error(`key: has more than ${LONGEST_KEY} characters`)
  const valueSchema = typeof schema === 'function' ? schema(topic) : schema
  const parsed = valueSchema.safeParse(value === null ? null : decodeRecord(value))
  if (!parsed.success) throw new Error(parsed.error.issues.map(problemOf).join('; '))
  const traceparent = headers.traceparent?.toString()
  return { topic, partition, offset, key: key ?? '', value: parsed.data, traceparent }
}

const problemOf = ({ path, message }: z.core.$ZodIssue): string => `${z.core.toDotPath(path) || 'value'}: ${message}`

const MAGIC_BYTE = 0
const HEADER_BYTES = 5

/**
 * Reads the JSON of a record in Confluent wire format, without the registry: the reader validates it with its own
 * schema and ignores unknown members. Throws when the bytes are something else.
 */
export function decodeRecord(bytes: Buffer): unknown {
  if (bytes[0] !== MAGIC_BYTE || bytes.length < HEADER_BYTES) throw new Error('not in Confluent wire format')
  const value = parsedJson(bytes.toString('utf8', HEADER_BYTES))
  // The error of `JSON.parse` quotes the record, which no log may have.
  if (value === undefined) throw new Error('the value is no JSON')
  return value
}
