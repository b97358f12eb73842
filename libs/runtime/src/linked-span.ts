import { isSampled, isTracing, type Span, type SpanContext, startSpan } from './spans.ts'
import { spanContextFrom } from './trace-context.ts'

/** Links of one span at most: a batch may have records of hundreds of traces. */
const LINKS = 100

type Options = Required<Pick<NonNullable<Parameters<typeof startSpan>[1]>, 'kind' | 'attributes'>>

/**
 * Begins a trace with a link to each recorded cause, a hundred at most; undefined without one. For work with several
 * causes, or hours after its cause.
 */
export function startLinkedSpan(
  name: string,
  causes: readonly (string | null | undefined)[],
  options: Options,
): Span | undefined {
  const links = isTracing() ? recordedAmong(causes) : []
  return links.length === 0 ? undefined : startSpan(name, { ...options, links })
}

/** The spans of the well-formed, recorded traceparents: each once, the last LINKS of them. */
function recordedAmong(traceparents: readonly (string | null | undefined)[]): SpanContext[] {
  const recorded = new Map<string, SpanContext>()
  for (const traceparent of traceparents) {
    const span = traceparent && !recorded.has(traceparent) ? spanContextFrom(traceparent) : undefined
    if (traceparent && span && isSampled(span)) recorded.set(traceparent, span)
  }
  return [...recorded.values()].slice(-LINKS)
}
