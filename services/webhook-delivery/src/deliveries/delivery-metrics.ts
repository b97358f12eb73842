import type { Exchange } from '@backoffice/outbound/post.ts'
import { meter, SECONDS } from '@backoffice/runtime/metrics.ts'
import type { Attempt } from './attempt.ts'

const webhooks = meter('webhook-delivery')
const attempts = webhooks.createCounter('webhook_attempts', {
  description: 'Attempts by outcome: delivered, or the class of what went wrong',
})
const settled = webhooks.createCounter('webhook_deliveries_settled', {
  description: 'Deliveries that ended, by status',
})
const duration = webhooks.createHistogram('webhook_attempt_duration_seconds', {
  description: 'From sending to the end of the response',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})
const delay = webhooks.createHistogram('webhook_first_attempt_delay_seconds', {
  description: 'From the event to the start of its first attempt',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})
const unwritable = webhooks.createCounter('webhook_attempts_unwritable', {
  description: 'Attempts that PostgreSQL refused as they were',
})

const waiting = webhooks.createGauge('webhook_endpoints_waiting', {
  description: 'Endpoints with deliveries that wait in the table, due or not',
})
const overdue = webhooks.createGauge('webhook_oldest_due_seconds', {
  description: 'For how long the oldest delivery that is due has been',
  unit: 's',
})

/** Counts an attempt and, when it is recorded, what became of its delivery. */
export function measureAttempt({ job, exchange, status, startedAt }: Attempt, isRecorded: boolean): void {
  const outcome = outcomeLabel(exchange)
  attempts.add(1, { outcome })
  duration.record(exchange.durationMs / 1000, { outcome })
  if (job.attemptsMade === 0) delay.record(Math.max(0, startedAt.getTime() - job.occurredAt.getTime()) / 1000)
  if (isRecorded && status !== 'PENDING' && status !== job.resend?.status) settled.add(1, { status })
}

/** Counts an attempt that cannot be written as it was. */
export const countUnwritableAttempt = (): void => unwritable.add(1)

/** Counts deliveries that end as FAILED with the day that they belong to. */
export const countGivenUp = (deliveries: number): void => settled.add(deliveries, { status: 'FAILED' })

/** `delivered`, or the class of what went wrong. */
export const outcomeLabel = ({ failure }: Exchange): string => failure?.class ?? 'delivered'

/** Measures what waits in the table; `oldestDueAt` in Unix milliseconds, Infinity when nothing waits. */
export function measureWaiting({ queues, oldestDueAt }: { queues: number; oldestDueAt: number }, now: Date): void {
  waiting.record(queues)
  overdue.record(Math.max(0, now.getTime() - oldestDueAt) / 1000)
}
