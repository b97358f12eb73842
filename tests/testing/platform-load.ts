import { setTimeout as pause } from 'node:timers/promises'
import { type EventRecord, TOPICS } from '@backoffice/contracts/events.ts'
import type { Kafka, OutgoingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { recordSerializer } from '@backoffice/messaging/registry/schema-registry.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'

const TICK_MS = 50
/** Every 50th event is sent twice; with every 90th goes an unreadable record. */
const TWICE_EVERY = 50
const POISON_EVERY = 90
const OBJECTS = 60
/** Records of a burst that are produced at once. */
const RECORDS_A_REQUEST = 500

/** Events of `platform.events`, published in place of another part of the platform (OP-58, OP-69). */
export interface Published {
  /** Their ids, in the order of publishing. */
  readonly events: readonly string[]
  /** The object of each, which is its key. */
  readonly objects: ReadonlyMap<string, string>
}

/** A publisher of events. */
export interface Load extends Published {
  readonly poison: number
  /** Resolves when all events are on Kafka. */
  stop(): Promise<void>
}

interface LoadOptions {
  readonly isPoisoned?: boolean
  /** Objects that have the events in turn. */
  readonly objects?: number
}

/** Publishes events of a workspace, some of them twice, and some unreadable records unless told. */
export function startLoad(
  kafka: Kafka,
  workspaceId: string,
  perSecond: number,
  { isPoisoned = true, objects = OBJECTS }: LoadOptions = {},
): Load {
  const { published, nextRecord } = publisher(workspaceId, objects)
  let [poison, due, isOver] = [0, 0, false]

  const nextRecords = async (): Promise<OutgoingRecord[]> => {
    const number = published.events.length
    const record = await nextRecord()
    if (!isPoisoned || number % POISON_EVERY !== 1) return number % TWICE_EVERY === 0 ? [record, record] : [record]
    poison++
    return [{ ...record, value: Buffer.from('poison') }, record]
  }
  const run = async () => {
    while (!isOver) {
      const records: OutgoingRecord[] = []
      for (due += (perSecond * TICK_MS) / 1000; due >= 1; due--) records.push(...(await nextRecords()))
      await Promise.all([kafka.produce(records), pause(TICK_MS)])
    }
  }
  const ended = run()
  const stop = async () => {
    isOver = true
    await ended
  }
  whenDone(stop)
  return {
    ...published,
    get poison() {
      return poison
    },
    stop,
  }
}

/** Publishes so many events of each object, which have them in turn, as fast as Kafka takes them. */
export async function publishBurst(
  kafka: Kafka,
  workspaceId: string,
  { objects, each }: { objects: number; each: number },
): Promise<Published> {
  const { published, nextRecord } = publisher(workspaceId, objects)
  while (published.events.length < objects * each) {
    const records: OutgoingRecord[] = []
    while (records.length < RECORDS_A_REQUEST && published.events.length < objects * each)
      records.push(await nextRecord())
    await kafka.produce(records)
  }
  return published
}

function publisher(workspaceId: string, count: number) {
  const serialize = recordSerializer(backingServices().registryUrl)
  const keys = Array.from({ length: count }, () => uuidv7())
  const events: string[] = []
  const objects = new Map<string, string>()
  return {
    published: { events, objects } satisfies Published,
    async nextRecord(): Promise<OutgoingRecord> {
      const number = events.length
      const event = anExpense(workspaceId, number, keys[number % count] ?? '')
      const { id: key } = event.data
      const value = await serialize(TOPICS.platformEvents, event)
      events.push(event.id)
      objects.set(event.id, key)
      return { topic: TOPICS.platformEvents, key, value, headers: {} }
    },
  }
}

const anExpense = (workspaceId: string, number: number, id: string) =>
  ({
    id: uuidv7(),
    type: 'expense.updated',
    workspace_id: workspaceId,
    livemode: true,
    occurred_at: new Date().toISOString(),
    data: { id, number },
  }) satisfies EventRecord
