import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter, durations } from '@backoffice/runtime/metrics.ts'
import type { Attempt } from '../sending/attempt.ts'
import { workspaceMinutes } from './workspace-minutes.ts'

const attempts = counter('webhook_attempts', 'Attempts by outcome: delivered, or the class of what went wrong')
const settled = counter('webhook_deliveries_settled', 'Deliveries that ended, by status')
const duration = durations('webhook_attempt_duration_seconds', 'From sending to the end of the response')
const delay = durations(
  'webhook_first_attempt_delay_seconds',
  'From the event to the start of its first attempt, unless its endpoint has kept the delivery waiting',
)
const noteWorkspace = workspaceMinutes()

/** Notes how long after its event a first attempt begins. */
export const noteFirstAttempt = (delayMs: number): void => delay.record(delayMs / 1000)

/**
 * Counts and logs an attempt, and what became of its delivery when it is recorded. `isRecorded` is false when another
 * write has recorded one with its number, or none could.
 */
export function noteAttempt(logger: Logger, attempt: Attempt, isRecorded: boolean): void {
  const { job, trace, exchange, status, nextAttemptAt } = attempt
  const outcome = exchange.failure?.class ?? 'delivered'
  attempts.add(1, { outcome })
  duration.record(exchange.durationMs / 1000, { outcome })
  noteWorkspace(job.target.workspaceId, exchange, performance.now())
  if (isRecorded && status !== 'PENDING' && status !== job.resend?.status) settled.add(1, { status })
  logger.info(
    {
      ...idsOf(attempt),
      event_id: job.eventId,
      event_type: job.eventType,
      outcome,
      response_status: exchange.response?.status,
      duration_ms: exchange.durationMs,
      delivery_status: status,
      next_attempt_at: nextAttemptAt,
      recorded: isRecorded,
      trace_id: trace?.trace_id,
      span_id: trace?.span_id,
    },
    'attempt',
  )
}

/** Says in the log which attempt it is. */
export const idsOf = ({ job }: Attempt) => ({
  workspace_id: job.target.workspaceId,
  endpoint_id: job.target.id,
  delivery_id: job.deliveryId,
  attempt: job.attemptsMade + 1,
})

/** Counts deliveries that end as FAILED with the day that they belong to. */
export const countGivenUp = (deliveries: number): void => settled.add(deliveries, { status: 'FAILED' })
