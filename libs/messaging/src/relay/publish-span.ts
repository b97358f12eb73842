import { currentTime } from '@backoffice/runtime/clock.ts'
import { isSampled, type Span, SpanKind, startSpan } from '@backoffice/runtime/spans.ts'
import { spanContextFrom } from '@backoffice/runtime/trace-context.ts'
import type { OutboxRow } from './outbox-rows.ts'

/** The span of publishing a row, in the trace of its change; undefined when that is not recorded. */
export function publishSpan({ topic, type, event_id, occurred_at, traceparent }: OutboxRow): Span | undefined {
  const change = spanContextFrom(traceparent)
  if (change === undefined || !isSampled(change)) return undefined
  return startSpan(`send ${topic}`, {
    kind: SpanKind.PRODUCER,
    parent: change,
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': topic,
      'messaging.message.id': event_id,
      'backoffice.record_type': type,
      'backoffice.outbox_wait_ms': currentTime().getTime() - occurred_at.getTime(),
    },
  })
}
