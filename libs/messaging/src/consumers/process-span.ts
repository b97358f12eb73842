import { startLinkedSpan } from '@backoffice/runtime/linked-span.ts'
import { noteError, type Span, SpanKind, type TraceIds, traceIds, within } from '@backoffice/runtime/spans.ts'
import type { IncomingRecord } from '../kafka/kafka-connection.ts'
import { Interrupted } from './error-causes.ts'

/**
 * Processes a batch in a span. A batch has many causes, so the span begins a trace of its own with links to the traces
 * of the records. There is no span when none of these is recorded. Returns the number of dead letters, and the ids for
 * the log line.
 */
export async function inProcessSpan(
  consumer: string,
  records: readonly IncomingRecord[],
  process: () => Promise<number>,
): Promise<{ dead: number; ids: TraceIds }> {
  const span = processSpan(consumer, records)
  const ids = span ? traceIds(span) : {}
  try {
    const dead = await within(span, process)
    if (dead > 0) span?.setAttribute('backoffice.dead_letters', dead)
    return { dead, ids }
  } catch (error) {
    if (!(error instanceof Interrupted)) noteError(span, error)
    throw error
  } finally {
    span?.end()
  }
}

function processSpan(consumer: string, records: readonly IncomingRecord[]): Span | undefined {
  const [first] = records
  if (first === undefined) return undefined
  const traceparents = records.map(({ headers }) => headers.traceparent?.toString())
  return startLinkedSpan(`process ${first.topic}`, traceparents, {
    kind: SpanKind.CONSUMER,
    attributes: () => ({
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': first.topic,
      'messaging.destination.partition.id': String(first.partition),
      'messaging.kafka.offset': Number(first.offset),
      'messaging.consumer.group.name': consumer,
      'messaging.batch.message_count': records.length,
    }),
  })
}
