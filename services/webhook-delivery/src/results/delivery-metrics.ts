import type { Exchange } from '@backoffice/outbound/post.ts'
import { counter, durations } from '@backoffice/runtime/metrics.ts'
import type { Attempt } from '../sending/attempt.ts'

const attempts = counter('webhook_attempts', 'Attempts by outcome: delivered, or the class of what went wrong')
const settled = counter('webhook_deliveries_settled', 'Deliveries that ended, by status')
const duration = durations('webhook_attempt_duration_seconds', 'From sending to the end of the response')
const delay = durations('webhook_first_attempt_delay_seconds', 'From the event to the start of its first attempt')

/** Counts an attempt and, when it is recorded, what became of its delivery. */
export function measureAttempt({ job, exchange, status, startedAt }: Attempt, isRecorded: boolean): void {
  const outcome = outcomeLabel(exchange)
  attempts.add(1, { outcome })
  duration.record(exchange.durationMs / 1000, { outcome })
  if (job.attemptsMade === 0) delay.record(Math.max(0, startedAt.getTime() - job.occurredAt.getTime()) / 1000)
  if (isRecorded && status !== 'PENDING' && status !== job.resend?.status) settled.add(1, { status })
}

/** Counts deliveries that end as FAILED with the day that they belong to. */
export const countGivenUp = (deliveries: number): void => settled.add(deliveries, { status: 'FAILED' })

/** `delivered`, or the class of what went wrong. */
export const outcomeLabel = ({ failure }: Exchange): string => failure?.class ?? 'delivered'
