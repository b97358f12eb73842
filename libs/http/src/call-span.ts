import { inSpan, noteErrorType, SpanKind } from '@backoffice/runtime/spans.ts'
import { type TraceHeaders, traceHeaders } from '@backoffice/runtime/trace-context.ts'

interface Call {
  readonly service: string
  readonly method: string
  /** The trace to continue where no span is active. */
  readonly traceparent?: string | string[] | undefined
  readonly tracestate?: string | string[] | undefined
}

/** Sends a request in a client span; `send` adds the headers of the trace. An answer below 500 is no error. */
export const inCallSpan = <Answer extends { readonly statusCode: number }>(
  { service, method, ...came }: Call,
  send: (headers: TraceHeaders) => Promise<Answer>,
): Promise<Answer> =>
  inSpan(
    `${method} ${service}`,
    { kind: SpanKind.CLIENT, attributes: { 'http.request.method': method, 'backoffice.service': service } },
    async (span) => {
      const answer = await send(traceHeaders(came))
      span?.setAttribute('http.response.status_code', answer.statusCode)
      if (answer.statusCode >= 500) noteErrorType(span, String(answer.statusCode))
      return answer
    },
  )
