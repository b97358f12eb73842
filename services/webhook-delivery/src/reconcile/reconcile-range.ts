import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { endpointsOf, expectedDeliveries, type JudgedEvent } from './expected-deliveries.ts'
import { findDeliveries } from './found-deliveries.ts'
import { type Discrepancy, type ExpectedDelivery, judge, type Outcome } from './judgement.ts'
import { type EventRange, type JudgedRecord, readEvents } from './read-events.ts'

export interface Reconciliation extends EventRange {
  /** Milliseconds after which a pending, unclaimed delivery is overdue. */
  readonly overdueMs: number
  /** Called for each discrepancy. */
  onDiscrepancy(discrepancy: Discrepancy, delivery: ExpectedDelivery): void
}

/** The counts of a reconciliation. */
export interface Report {
  /** Records read, those around the range included. */
  read: number
  events: number
  deadLetters: number
  /** Pairs of an event and an endpoint, by outcome. */
  readonly outcomes: Map<Outcome, number>
  readonly discrepancies: Map<Discrepancy, number>
}

/** Events kept in memory at a time, and deliveries per statement. */
const EVENT_BATCH_SIZE = 2000
const DELIVERY_BATCH_SIZE = 5000

/** Compares events in Kafka with deliveries. Writes nothing and opens no secret. `sql` is of the worker role. */
export async function reconcileRange(kafka: Kafka, sql: Sql, options: Reconciliation): Promise<Report> {
  const report: Report = { read: 0, events: 0, deadLetters: 0, outcomes: new Map(), discrepancies: new Map() }
  const overdueBefore = new Date((await databaseTime(sql)).getTime() - options.overdueMs)
  let batch: JudgedEvent[] = []

  const judgeBatch = async () => {
    const events = withoutRepetitions(batch)
    batch = []
    report.events += events.length
    const endpoints = await endpointsOf(sql, [...new Set(events.map(({ event }) => event.workspace_id))])
    for (const part of partsOf(expectedDeliveries(events, endpoints), DELIVERY_BATCH_SIZE)) {
      const found = await findDeliveries(sql, part)
      for (const [index, delivery] of part.entries()) {
        const { isInBacklog = false, rows = [] } = found[index] ?? {}
        const { outcome, discrepancies } = judge({ ...delivery, isInBacklog }, rows, overdueBefore)
        count(report.outcomes, outcome)
        for (const discrepancy of discrepancies) {
          count(report.discrepancies, discrepancy)
          options.onDiscrepancy(discrepancy, delivery)
        }
      }
    }
  }
  const onRecords = async (records: readonly JudgedRecord[], read: number) => {
    report.read += read
    for (const record of records) {
      if (record === 'dead letter') report.deadLetters++
      else batch.push(record)
      if (batch.length === EVENT_BATCH_SIZE) await judgeBatch()
    }
  }
  await readEvents(kafka, options, onRecords)
  await judgeBatch()
  return report
}

const count = <Key>(counts: Map<Key, number>, key: Key) => counts.set(key, (counts.get(key) ?? 0) + 1)

/** Of an event with two records only the first counts: once it is consumed, the deliveries are there. */
const withoutRepetitions = (events: readonly JudgedEvent[]): JudgedEvent[] => [
  ...new Map(events.toReversed().map((judged) => [`${judged.event.workspace_id}/${judged.event.id}`, judged])).values(),
]
