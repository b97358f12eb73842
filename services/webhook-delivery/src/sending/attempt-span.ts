import type { Exchange } from '@backoffice/outbound/post.ts'
import { startLinkedSpan } from '@backoffice/runtime/linked-span.ts'
import { noteErrorType, SpanKind, type TraceIds, traceIds } from '@backoffice/runtime/spans.ts'
import type { Job } from '../scheduling/job.ts'

/**
 * Makes an attempt in a client span of a new trace with a link to the event's trace: an attempt may come hours later.
 * Without a recorded trace of the event there is no span. The span names the endpoint by its id, since the URL may
 * contain a secret. The receiver gets no trace header, since the specification names none.
 */
export async function inAttemptSpan(
  job: Job,
  send: () => Promise<Exchange>,
): Promise<{ exchange: Exchange; trace: TraceIds | undefined }> {
  const span = startLinkedSpan('webhook attempt', [job.traceparent], {
    kind: SpanKind.CLIENT,
    attributes: () => ({
      'http.request.method': 'POST',
      'backoffice.workspace_id': job.target.workspaceId,
      'backoffice.endpoint_id': job.target.id,
      'backoffice.delivery_id': job.deliveryId,
      'backoffice.event_id': job.eventId,
      'backoffice.event_type': job.eventType,
      'backoffice.attempt': job.attemptsMade + 1,
    }),
  })
  const trace = span && traceIds(span)
  const exchange = await send()
  if (exchange.response) span?.setAttribute('http.response.status_code', exchange.response.status)
  if (exchange.failure) noteErrorType(span, exchange.failure.class)
  span?.end()
  return { exchange, trace }
}
