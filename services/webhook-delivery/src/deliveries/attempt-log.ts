import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter, SECONDS } from '@backoffice/runtime/metrics.ts'
import type { Attempt } from './attempt.ts'

const webhooks = meter('webhook-delivery')
const attempts = webhooks.createCounter('webhook_attempts', {
  description: 'Attempts by outcome: delivered, or the class of what went wrong',
})
const settled = webhooks.createCounter('webhook_deliveries_settled', {
  description: 'Deliveries that ended, by status',
})
const duration = webhooks.createHistogram('webhook_attempt_duration', {
  description: 'From sending to the end of the response',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})
const delay = webhooks.createHistogram('webhook_first_attempt_delay', {
  description: 'From the event to the start of its first attempt',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})

/** Counts an attempt and writes its line. `isRecorded` is false where the delivery belonged to another by then. */
export function reportAttempt(logger: Logger, attempt: Attempt, isRecorded: boolean): void {
  const { job, exchange, status, startedAt } = attempt
  const outcome = exchange.failure?.class ?? 'delivered'
  attempts.add(1, { outcome })
  duration.record(exchange.durationMs / 1000, { outcome })
  if (job.attemptsMade === 0) delay.record(Math.max(0, startedAt.getTime() - job.occurredAt.getTime()) / 1000)
  if (isRecorded && status !== 'PENDING') settled.add(1, { status })
  logger.info(
    {
      workspace_id: job.target.workspaceId,
      endpoint_id: job.target.id,
      delivery_id: job.deliveryId,
      event_id: job.eventId,
      event_type: job.eventType,
      attempt: job.attemptsMade + 1,
      outcome,
      response_status: exchange.response?.status,
      duration_ms: exchange.durationMs,
      delivery_status: status,
      next_attempt_at: attempt.nextAttemptAt,
      recorded: isRecorded,
    },
    'attempt',
  )
}
