import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'

export { type Span, type SpanContext, SpanKind }

/** How a span begins. It is a child of the active span unless `parent` or `links` are given. */
interface NewSpan {
  readonly kind?: SpanKind
  readonly attributes?: Attributes
  /** The caller's span, of another process. */
  readonly parent?: SpanContext | undefined
  /** Whether the caller decides if the trace is recorded. Clients do not: their traces are sampled as new ones are. */
  readonly isParentTrusted?: boolean
  /** What caused it, in other traces: it begins a trace of its own, which is recorded when one of them is. */
  readonly links?: readonly SpanContext[]
}

/** Set while the process exports traces. */
let tracer: Tracer | undefined
let isParentFollowed = false

/** The span of the running code. A worker's run gets its span only when one is needed: most runs find nothing to do. */
interface Work {
  span?: Span
  readonly run?: { readonly name: string; readonly startedAt: Date }
  /** Set at the end of a run. Code that the run started may go on, but nobody would end a span that begins now. */
  isOver?: true
}
const present = new AsyncLocalStorage<Work>()

/** Begins spans with this tracer from now on. `isParentBased`: its sampler takes the decision of a trusted caller. */
export function setTracer(used: Tracer | undefined, isParentBased = false): void {
  tracer = used
  isParentFollowed = isParentBased
}

/** Whether the process exports traces. */
export const isTracing = (): boolean => tracer !== undefined

const UNTRUSTED = createContextKey('untrusted parent')

/** Whether the parent in a context is a client's span. */
export const isParentUntrusted = (parent: Context): boolean => parent.getValue(UNTRUSTED) === true

/** Whether a trace is recorded. */
export const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & TraceFlags.SAMPLED) !== 0

/** Begins a span, which the caller ends. One that follows a parent that is not recorded has the parent's ids. */
export function startSpan(name: string, options: NewSpan = {}): Span | undefined {
  if (tracer === undefined) return undefined
  const { kind = SpanKind.INTERNAL, attributes, isParentTrusted = true, links = [] } = options
  const parent = options.parent ?? (links.length > 0 ? undefined : activeSpan()?.spanContext())
  // The SDK would make ids and lists first. Most requests are not recorded.
  if (parent && isParentFollowed && isParentTrusted && !isSampled(parent)) return trace.wrapSpanContext(parent)
  let from = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
  if (parent && !isParentTrusted) from = from.setValue(UNTRUSTED, true)
  const span = tracer.startSpan(name, { kind, links: links.map((linked) => ({ context: linked })) }, from)
  // The sampler does not need them, and they cost more than its decision.
  if (attributes && span.isRecording()) span.setAttributes(attributes)
  return span
}

/** Runs `work` with a span as the active one. */
export const within = <Result>(span: Span | undefined, work: () => Result): Result =>
  span === undefined || span === activeSpan() ? work() : present.run({ span }, work)

/** Runs `work` as a run of a worker: `activeOrRunSpan` begins its span. */
export async function inRun<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  if (tracer === undefined) return work()
  const own: Work = { run: { name, startedAt: new Date() } }
  try {
    return await present.run(own, work)
  } catch (error) {
    noteError(own.span, error)
    throw error
  } finally {
    own.isOver = true
    own.span?.end()
  }
}

/** The span that the present code works for; undefined without one. It may have ended. */
export const activeSpan = (): Span | undefined => (tracer === undefined ? undefined : present.getStore()?.span)

/** As `activeSpan`, for code that continues a trace: in a worker's run it begins the span of the run. */
export function activeOrRunSpan(): Span | undefined {
  if (tracer === undefined) return undefined
  const work = present.getStore()
  if (work?.run && !work.isOver)
    work.span ??= tracer.startSpan(work.run.name, { startTime: work.run.startedAt }, ROOT_CONTEXT)
  return work?.span
}

/** Runs `work` in a child of the active span. Where nothing is recorded, it gets no span. */
export async function inSpan<Result>(
  name: string,
  options: Pick<NewSpan, 'kind' | 'attributes'>,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  if (!activeSpan()?.isRecording()) return work(undefined)
  const span = startSpan(name, options)
  try {
    return await within(span, () => work(span))
  } catch (error) {
    noteError(span, error)
    throw error
  } finally {
    span?.end()
  }
}

/** Notes the type of an error, never its message, which may quote a value. A refusal (status below 500) is no error. */
export function noteError(span: Span | undefined, error: unknown): void {
  const isRefusal = error instanceof Error && 'status' in error && Number(error.status) < 500
  if (!isRefusal) noteErrorType(span, typeOf(error))
}

/** Marks a span as failed, with a type of few different values. */
export function noteErrorType(span: Span | undefined, type: string): void {
  span?.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

export interface TraceIds {
  readonly trace_id?: string
  readonly span_id?: string
}

const NO_IDS: TraceIds = Object.freeze({})

/** The members of a log line that lead to a span; none for a span that has ended, since its work is over. */
export function traceIds(span: Span | undefined = activeSpan()): TraceIds {
  if (span === undefined || ('ended' in span && span.ended === true)) return NO_IDS
  const { traceId, spanId } = span.spanContext()
  return { trace_id: traceId, span_id: spanId }
}
