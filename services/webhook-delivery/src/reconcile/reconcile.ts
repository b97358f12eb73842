import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { type KAFKA, kafkaServers } from '@backoffice/messaging/kafka/kafka-settings.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import type { Check } from '@backoffice/service/checks/check.ts'
import { RunParameters } from '@backoffice/service/checks/check-run.ts'
import type { z } from 'zod'
import { endpointsOf, expectedDeliveries, type JudgedEvent } from './expected-deliveries.ts'
import { findDeliveries } from './found-deliveries.ts'
import { DISCREPANCIES, type Discrepancy, type ExpectedDelivery, judge, type Outcome } from './judgement.ts'
import { type EventRange, type JudgedRecord, readEvents } from './read-events.ts'

export interface Reconciliation extends EventRange {
  /** Milliseconds after which a pending delivery that is not in flight is overdue. */
  readonly overdueMs: number
  onDiscrepancy(discrepancy: Discrepancy, delivery: ExpectedDelivery): void
}

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
    const pausedUntil = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.pausedUntil]))
    for (const part of partsOf(expectedDeliveries(events, endpoints), DELIVERY_BATCH_SIZE)) {
      const found = await findDeliveries(sql, part)
      for (const [index, delivery] of part.entries()) {
        const { isInBacklog = false, rows = [] } = found[index] ?? {}
        const judged = { ...delivery, isInBacklog, pausedUntil: pausedUntil.get(delivery.endpointId) }
        const { outcome, discrepancies } = judge(judged, rows, overdueBefore)
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

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** How long Kafka keeps events (contracts/topics.ts). */
const KEPT_MS = 7 * DAY_MS

/** The range that parameters name: of the last day, unless told. */
const Range = RunParameters.transform(({ since, until, ...others }) => {
  const end = until === undefined ? currentTime() : new Date(until)
  return { ...others, until: end, since: since === undefined ? new Date(end.getTime() - DAY_MS) : new Date(since) }
})
  .refine(({ since, until }) => since < until, { path: ['since'], message: 'must be before until' })
  .refine(({ since }) => since.getTime() >= currentTime().getTime() - KEPT_MS, {
    path: ['since'],
    message: 'lies more than 7 days back: Kafka does not keep events for so long',
  })

/**
 * Proves that each event of a range has one delivery to each subscribed endpoint. Reads Kafka over a connection of its
 * own, since the topics may have another prefix.
 */
export const reconcileCheck = (config: z.output<z.ZodObject<typeof KAFKA>>, logger: Logger): Check => ({
  parameters: Range,
  async run({ sql, parameters, report }) {
    const { since, until, workspace, margin_minutes = 60, overdue_minutes = 10, kafka_prefix } = Range.parse(parameters)
    const servers = kafkaServers(config)
    const clientId = 'webhook-delivery reconcile'
    const kafka = connectKafka({ ...servers, prefix: kafka_prefix ?? servers.prefix, clientId, logger })
    try {
      const compared = await reconcileRange(kafka, sql, {
        since,
        until,
        marginMs: margin_minutes * MINUTE_MS,
        workspaceId: workspace,
        overdueMs: overdue_minutes * MINUTE_MS,
        onDiscrepancy: (problem, { workspaceId, eventId, eventType, endpointId }) =>
          report({ problem, workspace: workspaceId, event: eventId, type: eventType, endpoint: endpointId }),
      })
      return countsOf(compared)
    } finally {
      await kafka.stop()
    }
  },
})

function countsOf({ read, events, deadLetters, outcomes, discrepancies }: Report): Record<string, number> {
  const of = (...names: Outcome[]) => names.reduce((sum, name) => sum + (outcomes.get(name) ?? 0), 0)
  return {
    events,
    dead_letters: deadLetters,
    records_read: read,
    pending: of('PENDING'),
    delivered: of('DELIVERED'),
    failed: of('FAILED'),
    not_yet_consumed: of('unconsumed'),
    in_the_backlog: of('backlog'),
    unknown: of('unknown'), // their endpoint was changed since
    ...Object.fromEntries(DISCREPANCIES.map((each) => [each, discrepancies.get(each) ?? 0])),
  }
}
