import { isId, Timestamp } from '@backoffice/contracts/fields.ts'
import { decodeRecord } from '@backoffice/messaging/consumers/received-records.ts'
import type { IncomingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { z } from 'zod'

/** The place of a dead letter: its time in Unix milliseconds, and its partition and offset in the dead-letter topic. */
export interface Place {
  readonly consumer: string
  readonly time: number
  readonly partition: number
  readonly offset: number
}

/** The id of a dead letter is its place. */
export const DeadLetterId = z
  .string()
  .regex(/^[a-z-]+\.[a-z-]+:\d{1,15}:\d{1,6}:\d{1,15}$/, 'must be the id of a dead letter')

export const idOf = ({ consumer, time, partition, offset }: Place) => [consumer, time, partition, offset].join(':')

export function placeOf(id: string): Place {
  const [consumer = '', ...numbers] = id.split(':')
  const [time = 0, partition = 0, offset = 0] = numbers.map(Number)
  return { consumer, time, partition, offset }
}

/** A record that a consumer could not process, without its value, which may have personal data. */
export const DeadLetter = z.strictObject({
  id: DeadLetterId,
  at: Timestamp,
  consumer: z.string(),
  /** Where it was read. */
  topic: z.string(),
  partition: z.int(),
  offset: z.string(),
  key: z.string().nullable(),
  /** Null where the value does not tell. */
  type: z.string().nullable(),
  workspace: z.string().nullable(),
  reason: z.string(),
  /** Whether later records of its key go to the dead letters too. */
  parked: z.boolean(),
  /** Whether it was sent to its topic again. */
  replayed: z.boolean(),
})
export type DeadLetter = z.output<typeof DeadLetter>

/** With its value: JSON, or base64 of what is none; null is a tombstone. */
export const DeadLetterContents = DeadLetter.extend({
  headers: z.record(z.string(), z.string()),
  encoding: z.enum(['json', 'base64']),
  payload: z.unknown(),
})

/** What the record of a dead letter tells by itself. */
export type Letter = Omit<DeadLetter, 'parked' | 'replayed'>

export function letterOf(consumer: string, record: IncomingRecord, time = record.producedAt.getTime()): Letter {
  const { json } = contentsOf(record)
  const workspace = textOf(json, 'workspace_id')
  return {
    id: idOf({ consumer, time, partition: record.partition, offset: Number(record.offset) }),
    at: new Date(time).toISOString(),
    consumer,
    // A replay of a former version may have put a record there without these headers: it names its own place.
    topic: header(record, 'dead-letter-topic') || record.topic,
    partition: Number(header(record, 'dead-letter-partition') || record.partition),
    offset: header(record, 'dead-letter-offset') || record.offset,
    key: record.key,
    type: textOf(json, 'type'),
    workspace: workspace !== null && isId(workspace) ? workspace : null,
    reason: header(record, 'dead-letter-reason'),
  }
}

/** Brackets that may be open at once in a value that is shown as JSON: to write many levels overflows the stack. */
const MOST_OPEN = 1000

function isDeep(value: Buffer): boolean {
  let open = 0
  for (const byte of value) {
    if (byte === 0x5b || byte === 0x7b) open++
    else if (byte === 0x5d || byte === 0x7d) open--
    if (open > MOST_OPEN) return true
  }
  return false
}

/** The value of a record: `json` is undefined when it is something else, or nests too deep. */
export function contentsOf({ value }: IncomingRecord) {
  if (value === null) return { encoding: 'json', json: null, payload: null } as const
  try {
    const json = decodeRecord(value)
    if (isDeep(value)) throw new RangeError('nests too deep')
    return { encoding: 'json', json, payload: json } as const
  } catch {
    return { encoding: 'base64', json: undefined, payload: value.toString('base64') } as const
  }
}

function textOf(json: unknown, member: string): string | null {
  const value = (json as Record<string, unknown> | null | undefined)?.[member]
  return typeof value === 'string' ? value : null
}

const header = ({ headers }: IncomingRecord, name: string): string => String(headers[name] ?? '')
