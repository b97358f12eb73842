import { ApiError } from '@backoffice/contracts/errors.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { inSpan, noteErrorType, SpanKind } from '@backoffice/runtime/spans.ts'
import { type TraceHeaders, traceHeaders } from '@backoffice/runtime/trace-context.ts'

interface Call {
  readonly service: string
  readonly method: string
  /** The trace to continue where no span is active. */
  readonly traceparent?: string | string[] | undefined
  readonly tracestate?: string | string[] | undefined
}

const calls = counter(
  'service_calls',
  'Calls of other services by outcome: answered, or failed, without an answer in time or with 5xx',
)

/**
 * Sends a request in a client span and counts it; `send` adds the headers of the trace. An answer below 500 is no
 * error. A call whose client left (an `AbortError`), and one that a refusal kept from being sent, count as answered.
 */
export const inCallSpan = <Answer extends { readonly statusCode: number }>(
  { service, method, ...came }: Call,
  send: (headers: TraceHeaders) => Promise<Answer>,
): Promise<Answer> =>
  inSpan(
    `${method} ${service}`,
    { kind: SpanKind.CLIENT, attributes: { 'http.request.method': method, 'backoffice.service': service } },
    async (span) => {
      const count = (isFailed: boolean) =>
        calls.add(1, { upstream: service, outcome: isFailed ? 'failed' : 'answered' })
      const answer = await send(traceHeaders(came)).catch((error: Error) => {
        count(error.name !== 'AbortError' && !(error instanceof ApiError && error.status < 500))
        throw error
      })
      count(answer.statusCode >= 500)
      span?.setAttribute('http.response.status_code', answer.statusCode)
      if (answer.statusCode >= 500) noteErrorType(span, String(answer.statusCode))
      return answer
    },
  )
