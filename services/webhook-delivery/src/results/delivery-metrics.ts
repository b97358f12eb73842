import type { Exchange } from '@backoffice/outbound/post.ts'
import { counter, durations, gauge } from '@backoffice/runtime/metrics.ts'
import type { Attempt } from '../sending/attempt.ts'

const attempts = counter('webhook_attempts', 'Attempts by outcome: delivered, or the class of what went wrong')
const settled = counter('webhook_deliveries_settled', 'Deliveries that ended, by status')
const duration = durations('webhook_attempt_duration_seconds', 'From sending to the end of the response')
const delay = durations('webhook_first_attempt_delay_seconds', 'From the event to the start of its first attempt')
const unwritable = counter('webhook_attempts_unwritable', 'Attempts that PostgreSQL refused, or that a write left out')
const unwritten = gauge('webhook_attempts_unwritten_seconds', 'How long attempts that ended have not been written', 's')

const waiting = gauge('webhook_endpoints_waiting', 'Endpoints with deliveries that wait in the table, due or not')
const overdue = gauge('webhook_oldest_due_seconds', 'For how long the oldest delivery that is due has been', 's')

/** Counts an attempt and, when it is recorded, what became of its delivery. */
export function measureAttempt({ job, exchange, status, startedAt }: Attempt, isRecorded: boolean): void {
  const outcome = outcomeLabel(exchange)
  attempts.add(1, { outcome })
  duration.record(exchange.durationMs / 1000, { outcome })
  if (job.attemptsMade === 0) delay.record(Math.max(0, startedAt.getTime() - job.occurredAt.getTime()) / 1000)
  if (isRecorded && status !== 'PENDING' && status !== job.resend?.status) settled.add(1, { status })
}

/** Counts attempts that a write did not take as they were. */
export const countUnwritable = (reason: 'refused' | 'left out', attempts: number): void =>
  unwritable.add(attempts, { reason })

/** Measures how long attempts have waited to be written, in seconds. */
export const measureUnwritten = (seconds: number): void => unwritten.record(seconds)

/** Counts deliveries that end as FAILED with the day that they belong to. */
export const countGivenUp = (deliveries: number): void => settled.add(deliveries, { status: 'FAILED' })

/** `delivered`, or the class of what went wrong. */
export const outcomeLabel = ({ failure }: Exchange): string => failure?.class ?? 'delivered'

/** Measures what waits in the table; `oldestDueAt` in Unix milliseconds, Infinity when nothing waits. */
export function measureWaiting({ queues, oldestDueAt }: { queues: number; oldestDueAt: number }, now: Date): void {
  waiting.record(queues)
  overdue.record(Math.max(0, now.getTime() - oldestDueAt) / 1000)
}
