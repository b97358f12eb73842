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
const RESOURCES = Array.from({ length: 60 }, () => uuidv7())

/** A publisher of `platform.events`, in place of another part of the platform (OP-58, OP-69). */
export interface Load {
  /** The ids of the events published so far. */
  readonly events: readonly string[]
  readonly poison: number
  /** Resolves when all events are on Kafka. */
  stop(): Promise<void>
}

/** Publishes events of a workspace, some of them twice, and some unreadable records unless told. */
export function startLoad(kafka: Kafka, workspaceId: string, perSecond: number, { isPoisoned = true } = {}): Load {
  const serialize = recordSerializer(backingServices().registryUrl)
  const events: string[] = []
  let [poison, due, isOver] = [0, 0, false]

  const nextRecords = async (): Promise<OutgoingRecord[]> => {
    const number = events.length
    const event = anExpense(workspaceId, number)
    const { id: key } = event.data
    const record = {
      topic: TOPICS.platformEvents,
      key,
      value: await serialize(TOPICS.platformEvents, event),
      headers: {},
    }
    events.push(event.id)
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
    events,
    get poison() {
      return poison
    },
    stop,
  }
}

const anExpense = (workspaceId: string, number: number) =>
  ({
    id: uuidv7(),
    type: 'expense.updated',
    workspace_id: workspaceId,
    livemode: true,
    occurred_at: new Date().toISOString(),
    data: { id: RESOURCES[number % RESOURCES.length] ?? '', number },
  }) satisfies EventRecord
