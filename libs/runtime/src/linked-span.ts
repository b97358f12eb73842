import { isSampled, isTracing, type Span, startSpan } from './spans.ts'
import { spanContextFrom } from './trace-context.ts'

/** Links of one span at most: a batch may have records of hundreds of traces. */
const LINKS = 100

type SpanOptions = Required<Pick<NonNullable<Parameters<typeof startSpan>[1]>, 'kind' | 'attributes'>>

/**
 * Begins a trace with a link to each recorded cause, once, and to the last hundred at most; undefined without one. For
 * work with several causes, or hours after its cause. Asks for the attributes only then.
 */
export function startLinkedSpan(
  name: string,
  causes: readonly (string | null | undefined)[],
  { kind, attributes }: { kind: SpanOptions['kind']; attributes: () => SpanOptions['attributes'] },
): Span | undefined {
  if (!isTracing()) return undefined
  const recorded = [...new Set(causes)].flatMap((cause) => (cause && spanContextFrom(cause)) || []).filter(isSampled)
  return recorded.length === 0
    ? undefined
    : startSpan(name, { kind, attributes: attributes(), links: recorded.slice(-LINKS) })
}
