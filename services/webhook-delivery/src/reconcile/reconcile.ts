import { parseArgs } from 'node:util'
import { Id, TimestampInput } from '@backoffice/contracts/fields.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { KAFKA, kafkaServers, refuseIncompleteKafka } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
import { DISCREPANCIES, type Discrepancy, type ExpectedDelivery } from './judgement.ts'
import { type Report, reconcileRange } from './reconcile-range.ts'

/**
 * `npm run reconcile -w services/webhook-delivery -- --since <ISO> --until <ISO> [--workspace <id>]`: proves that each
 * event of a time range has one delivery to each endpoint that is subscribed to it. Prints each discrepancy as a line
 * of JSON, then counts. Exits with 0 without discrepancies, 1 with some, 2 when it could not finish.
 */
const Config = z.object({ ...WORKER_DATABASE, ...KAFKA }).superRefine(refuseIncompleteKafka)

const MINUTE_MS = 60_000
/** How long Kafka keeps events (contracts/topics.ts). */
const KEPT_MS = 7 * 24 * 60 * MINUTE_MS
const Minutes = z.coerce.number().min(0)
const Time = TimestampInput.transform((value) => new Date(value))

const Arguments = z
  .strictObject({
    since: Time,
    until: Time,
    workspace: Id.optional(),
    /** Minutes between the occurrence of an event and its publication at most: longer after an outage of Kafka. */
    margin: Minutes.default(60),
    /** Minutes after which a pending, unclaimed delivery is overdue. */
    overdue: Minutes.default(10),
  })
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

await runCommand(async () => {
  const report = await reconcile()
  printReport(report)
  return report.discrepancies.size === 0 ? 0 : 1
}, 2)
