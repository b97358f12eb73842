import type { Kafka } from '@backoffice/messaging/kafka-connection.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { endpointsOf, expectedDeliveries, type JudgedEvent } from './expected-deliveries.ts'
import { findDeliveries } from './found-deliveries.ts'
import { type ExpectedDelivery, judge, type Problem, type Standing } from './judgement.ts'
import { type EventRange, type JudgedRecord, readEvents } from './read-events.ts'

export interface Reconciliation extends EventRange {
  /** A pending delivery that was due so much earlier, in milliseconds, and nobody has claimed, is overdue. */
  readonly overdueMs: number
  /** Told of each problem. */
  onProblem(problem: Problem, delivery: ExpectedDelivery): void
}

/** What a reconciliation has seen, in numbers. */
export interface Report {
  /** Records read, those around the range included. */
  read: number
  events: number
  deadLetters: number
  /** Pairs of an event and an endpoint, by what became of them. */
  readonly standings: Map<Standing, number>
  readonly problems: Map<Problem, number>
}

/** Events held at once, and deliveries asked for with one statement. */
const EVENTS_AT_ONCE = 2000
const DELIVERIES_AT_ONCE = 5000

/**
 * Compares the events that Kafka has of a range with the deliveries there are. `sql` is of the worker role. Nothing is
 * written, nothing is kept from one batch to the next, and no secret is opened.
 */
export async function reconcileRange(kafka: Kafka, sql: Sql, options: Reconciliation): Promise<Report> {
  const report: Report = { read: 0, events: 0, deadLetters: 0, standings: new Map(), problems: new Map() }
  const overdueBefore = new Date(Date.now() - options.overdueMs)
  let batch: JudgedEvent[] = []

  const judgeBatch = async () => {
    const events = withoutRepetitions(batch)
    batch = []
    report.events += events.length
    const endpoints = await endpointsOf(sql, [...new Set(events.map(({ event }) => event.workspace_id))])
    for (const expected of partsOf(expectedDeliveries(events, endpoints))) {
      const found = await findDeliveries(sql, expected)
      for (const [index, delivery] of expected.entries()) {
        const { standing, problems } = judge(delivery, found[index] ?? [], overdueBefore)
        count(report.standings, standing)
        for (const problem of problems) {
          count(report.problems, problem)
          options.onProblem(problem, delivery)
        }
      }
    }
  }
  const onRecords = async (records: readonly JudgedRecord[], read: number) => {
    report.read += read
    for (const record of records) {
      if (record === 'dead letter') report.deadLetters++
      else batch.push(record)
      if (batch.length === EVENTS_AT_ONCE) await judgeBatch()
    }
  }
  await readEvents(kafka, options, onRecords)
  await judgeBatch()
  return report
}

const count = <Key>(counts: Map<Key, number>, key: Key) => counts.set(key, (counts.get(key) ?? 0) + 1)

/** A record that came twice is one event: where the first is consumed, its deliveries are there. */
const withoutRepetitions = (events: readonly JudgedEvent[]): JudgedEvent[] => [
  ...new Map(events.toReversed().map((judged) => [`${judged.event.workspace_id}/${judged.event.id}`, judged])).values(),
]

function* partsOf(expected: Iterable<ExpectedDelivery>): Generator<ExpectedDelivery[]> {
  let part: ExpectedDelivery[] = []
  for (const delivery of expected) {
    part.push(delivery)
    if (part.length < DELIVERIES_AT_ONCE) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
