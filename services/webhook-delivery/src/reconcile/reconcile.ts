import { parseArgs } from 'node:util'
import { Id, TimestampInput } from '@backoffice/contracts/fields.ts'
import { connectKafka } from '@backoffice/messaging/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { List, readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { z } from 'zod'
import { type ExpectedDelivery, PROBLEMS, type Problem } from './judgement.ts'
import { type Report, reconcileRange } from './reconcile-range.ts'

/**
 * `npm run reconcile -w services/webhook-delivery -- --since <ISO> --until <ISO> [--workspace <id>]`: proves of the events that
 * occurred in a time range that each has one delivery to each endpoint that gets it. Prints what is wrong, a line of JSON each,
 * and counts. Exits 0 when nothing is, 1 when something is, 2 when it could not find out.
 */
const Config = z.object({
  WORKER_DATABASE_URL: z.url(),
  KAFKA_BROKERS: List,
  KAFKA_PREFIX: z.string().default(''),
})

const MINUTE_MS = 60_000
/** How long Kafka keeps events (infra/kafka/topics.ts). */
const KEPT_MS = 7 * 24 * 60 * MINUTE_MS
const Minutes = z.coerce.number().min(0)
const Time = TimestampInput.transform((value) => new Date(value))

const Arguments = z
  .strictObject({
    since: Time,
    until: Time,
    workspace: Id.optional(),
    /** How much later than they occurred events may have been published: longer after an outage of Kafka. */
    margin: Minutes.default(60),
    /** A delivery that is pending and unclaimed so long after it was due is overdue. */
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
  const { WORKER_DATABASE_URL: url, KAFKA_BROKERS: brokers, KAFKA_PREFIX: prefix } = readConfig(Config)
  const applicationName = 'webhook-delivery reconcile'
  const settings = { plan_cache_mode: 'force_custom_plan', statement_timeout: '0' }
  const db = openDatabase({ url, applicationName, poolSize: 1, settings })
  const kafka = connectKafka({ brokers, clientId: applicationName, prefix, logger: createLogger('reconcile', 'error') })
  try {
    return await reconcileRange(kafka, db.sql, {
      since,
      until,
      marginMs: margin * MINUTE_MS,
      workspaceId: workspace,
      overdueMs: overdue * MINUTE_MS,
      onProblem: printProblem,
    })
  } finally {
    await Promise.all([kafka.stop(), db.stop?.()])
  }
}

function printProblem(problem: Problem, { workspaceId, eventId, eventType, endpointId }: ExpectedDelivery): void {
  console.log(
    JSON.stringify({ problem, workspace: workspaceId, event: eventId, type: eventType, endpoint: endpointId }),
  )
}

function printReport({ read, events, deadLetters, standings, problems }: Report): void {
  const of = (...names: Parameters<typeof standings.get>[0][]) =>
    names.reduce((sum, name) => sum + (standings.get(name) ?? 0), 0)
  console.log(`events: ${events}, dead letters: ${deadLetters}, records read: ${read}`)
  console.log(`deliveries: ${of('PENDING')} pending, ${of('DELIVERED')} delivered, ${of('FAILED')} failed`)
  console.log(
    `not there: ${of('unconsumed')} not yet consumed, ${of('unknown')} unknown, since their endpoint was changed`,
  )
  const counts = Object.entries(PROBLEMS).map(([problem, name]) => `${problems.get(problem as Problem) ?? 0} ${name}`)
  console.log(`wrong: ${counts.join(', ')}`)
}

process.exitCode = await reconcile().then(
  (report) => {
    printReport(report)
    return report.problems.size === 0 ? 0 : 1
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    return 2
  },
)
