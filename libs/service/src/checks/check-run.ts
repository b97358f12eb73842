import { Id, Timestamp, TimestampInput } from '@backoffice/contracts/fields.ts'
import type { ServiceName } from '@backoffice/contracts/services.ts'
import { z } from 'zod'

/** The checks, which compare what is stored with what should be and write nothing, with the services that run them. */
export const CHECKS = {
  'check-stock': 'catalog',
  'check-orders': 'orders',
  'check-members': 'collections',
  'check-apps': 'apps',
  reconcile: 'webhook-delivery',
} as const satisfies Record<string, ServiceName>

export type CheckName = keyof typeof CHECKS
/** The checks of a service. */
export type ChecksOf<Name extends ServiceName> = {
  [Check in CheckName]: (typeof CHECKS)[Check] extends Name ? Check : never
}[CheckName]

export const CheckName = z.enum(Object.keys(CHECKS) as [CheckName])
export const CHECKING_SERVICES: readonly ServiceName[] = [...new Set(Object.values(CHECKS))]

/** A day: Kafka keeps events for seven. */
const MOST_MINUTES = 24 * 60
const Minutes = z.int().min(0).max(MOST_MINUTES)

/** What `reconcile` takes; the others take nothing. */
export const RunParameters = z.strictObject({
  since: TimestampInput.optional().describe('The first event. A day before the last one unless given.'),
  until: TimestampInput.optional().describe('The last event. The time at which the run starts unless given.'),
  workspace: Id.optional().describe('Only the events of this workspace.'),
  margin_minutes: Minutes.optional().describe(
    'Between an event and its publication at most: longer after an outage of Kafka. 60 unless given.',
  ),
  overdue_minutes: Minutes.optional().describe('After which a delivery that is due is overdue. 10 unless given.'),
  kafka_prefix: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{0,100}$/, 'must be a prefix of topics: at most 100 letters, digits, dots, dashes')
    .optional()
    .describe('Of the topics to read, such as those from before a restore. Those of the service unless given.'),
})
export type RunParameters = z.output<typeof RunParameters>

export const RunAsked = z.strictObject({ check: CheckName, parameters: RunParameters })

/** A run of a check as lists have it. */
export const CheckRunSummary = z.strictObject({
  id: Id,
  check: CheckName,
  parameters: RunParameters,
  state: z.enum(['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED']),
  checked: z.record(z.string(), z.int()).describe('How much was compared.'),
  found: z.int().describe('The findings in all, without those that are too young to judge.'),
  error: z.string().nullable().describe('Why the run has failed.'),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
})

/** The most findings that a run keeps. */
export const MOST_FINDINGS = 1000

export const CheckRun = CheckRunSummary.extend({
  findings: z
    .array(z.record(z.string(), z.unknown()))
    .max(MOST_FINDINGS)
    .describe('The first findings, in the order in which they were found. One with `tooYoung` may be under way.'),
})
export type CheckRun = z.output<typeof CheckRun>
