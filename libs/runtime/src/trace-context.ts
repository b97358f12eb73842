import { randomBytes } from 'node:crypto'
import { createTraceState, type SpanContext, TraceFlags } from '@opentelemetry/api'
import { activeOrRunSpan } from './spans.ts'

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/
/** A longer tracestate may be dropped (W3C Trace Context, 3.3.1.5). */
const MAX_TRACESTATE_LENGTH = 512

type Header = string | string[] | undefined

export interface TraceHeaders {
  traceparent: string
  tracestate?: string
}

/** The traceparent that came, if well-formed, else the active span's, else a new one, marked as not recorded. */
export function traceparentFrom(header: Header): string {
  if (typeof header === 'string' && TRACEPARENT.test(header)) return header
  const active = activeOrRunSpan()
  if (active) return traceparentOf(active.spanContext())
  const ids = randomBytes(24).toString('hex')
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-00`
}

/** The traceparent of the active span, else what came with the request, else a new one. */
export const presentTraceparent = (header?: Header): string => {
  const active = activeOrRunSpan()
  return active ? traceparentOf(active.spanContext()) : traceparentFrom(header)
}

/** The headers of a request that is sent on behalf of one with these headers. */
export function traceHeaders({ traceparent, tracestate }: { traceparent?: Header; tracestate?: Header }): TraceHeaders {
  const active = activeOrRunSpan()?.spanContext()
  const continued = active ? traceparentOf(active) : traceparentFrom(traceparent)
  const state = active ? active.traceState?.serialize() : continued === traceparent && stateIn(tracestate)
  return state ? { traceparent: continued, tracestate: state } : { traceparent: continued }
}

/** The span that a traceparent names; undefined for one that is not well-formed. */
export function spanContextFrom(traceparent: Header, tracestate?: Header): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] =
    (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || []
  if (traceId === '') return undefined
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const state = stateIn(tracestate)
  return { traceId, spanId, traceFlags, isRemote: true, ...(state && { traceState: createTraceState(state) }) }
}

/** The same span, marked as not recorded. */
export const unsampled = (span: SpanContext): SpanContext => ({ ...span, traceFlags: TraceFlags.NONE })

/** The traceparent by which another process continues a span. */
export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`

const stateIn = (tracestate: Header): string | undefined =>
  typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE_LENGTH ? tracestate : undefined
