import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Attempt } from '../sending/attempt.ts'
import { outcomeLabel } from './delivery-metrics.ts'

/** Logs an attempt. `isRecorded` is false when another write has recorded one with its number, or none could. */
export function logAttempt(logger: Logger, attempt: Attempt, isRecorded: boolean): void {
  const { job, trace, exchange, status, nextAttemptAt } = attempt
  logger.info(
    {
      ...idsOf(attempt),
      event_id: job.eventId,
      event_type: job.eventType,
      outcome: outcomeLabel(exchange),
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
