import { parseArgs } from 'node:util'
import { Id, TimestampInput } from '@backoffice/contracts/fields.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { KAFKA, kafkaServers, refuseIncompleteKafka } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
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

/**
 * `npm run reconcile -w services/webhook-delivery -- [--since <ISO>] [--until <ISO>] [--workspace <id>]`: proves that
 * each event, of the last day unless told, has one delivery to each subscribed endpoint. Exits 0, 1 with discrepancies,
 * 2 when it could not finish.
 */
const Config = z.object({ ...WORKER_DATABASE, ...KAFKA }).superRefine(refuseIncompleteKafka)

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** How long Kafka keeps events (contracts/topics.ts). */
const KEPT_MS = 7 * DAY_MS
const Minutes = z.coerce.number().min(0)
const Time = TimestampInput.transform((value) => new Date(value))

const Arguments = z
  .strictObject({
    /** A day before the end unless given. */
    since: Time.optional(),
    until: Time.default(() => new Date()),
    workspace: Id.optional(),
    /** Minutes between the occurrence of an event and its publication at most: longer after an outage of Kafka. */
    margin: Minutes.default(60),
    /** Minutes after which a pending delivery that is not in flight is overdue. */
    overdue: Minutes.default(10),
  })
  .transform(({ since, ...others }) => ({ ...others, since: since ?? new Date(others.until.getTime() - DAY_MS) }))
  .refine(({ since, until }) => since < until, { path: ['since'], message: 'must be before until' })
  .refine(({ since }) => since.getTime() >= Date.now() - KEPT_MS, {
    path: ['since'],
    message: 'lies more than 7 days back: Kafka does not keep events for so long',
  })

const option = { type: 'string' } as const
const OPTIONS = { since: option, until: option, workspace: option, margin: option, overdue: option }

function readArguments(): z.output<typeof Arguments> {
  const { values } = parseArgs({ options: OPTIONS })
  const read = Arguments.safeParse(values)
  if (read.success) return read.data
  throw new Error(read.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('; '))
}

async function reconcile(): Promise<Report> {
  const { since, until, workspace, margin, overdue } = readArguments()
  const config = readConfig(Config)
  const server = workerServer(config)
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const applicationName = 'webhook-delivery reconcile'
  const settings = { ...PLAN_EACH_TIME, statement_timeout: '0' }
  const db = openDatabase({ ...server, applicationName, poolSize: 1, settings })
  const logger = createLogger('reconcile', 'error')
  const kafka = connectKafka({ ...kafkaServers(config), clientId: applicationName, logger })
  try {
    await kafka.start()
    return await reconcileRange(kafka, db.sql, {
      since,
      until,
      marginMs: margin * MINUTE_MS,
      workspaceId: workspace,
      overdueMs: overdue * MINUTE_MS,
      onDiscrepancy: printDiscrepancy,
    })
  } finally {
    await Promise.all([kafka.stop(), db.stop?.()])
  }
}

function printDiscrepancy(problem: Discrepancy, delivery: ExpectedDelivery): void {
  const { workspaceId: workspace, eventId: event, eventType: type, endpointId: endpoint } = delivery
  console.log(JSON.stringify({ problem, workspace, event, type, endpoint }))
}

function printReport({ read, events, deadLetters, outcomes, discrepancies }: Report): void {
  const of = (...names: Parameters<typeof outcomes.get>[0][]) =>
    names.reduce((sum, name) => sum + (outcomes.get(name) ?? 0), 0)
  console.log(`events: ${events}, dead letters: ${deadLetters}, records read: ${read}`)
  console.log(`deliveries: ${of('PENDING')} pending, ${of('DELIVERED')} delivered, ${of('FAILED')} failed`)
  console.log(
    `not there: ${of('unconsumed')} not yet consumed, ${of('backlog')} in the backlog, ${of('unknown')} unknown, since their endpoint was changed`,
  )
  const counts = Object.entries(DISCREPANCIES).map(
    ([discrepancy, name]) => `${discrepancies.get(discrepancy as Discrepancy) ?? 0} ${name}`,
  )
  console.log(`wrong: ${counts.join(', ')}`)
}

if (import.meta.main)
  await runCommand(async () => {
    const report = await reconcile()
    printReport(report)
    return report.discrepancies.size === 0 ? 0 : 1
  }, 2)
