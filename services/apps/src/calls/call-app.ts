import type { Connections } from '@backoffice/outbound/connections.ts'
import { type Exchange, post } from '@backoffice/outbound/post.ts'
import { durations } from '@backoffice/runtime/metrics.ts'
import { inSpan, noteErrorType, SpanKind } from '@backoffice/runtime/spans.ts'

const requests = durations(
  'app_request_duration_seconds',
  'From sending a request to an app to the end of its answer, by outcome: acknowledged, or what went wrong',
)

/** How apps are reached. */
export interface AppConnection {
  /** Connects by the rules for addresses that outsiders choose. */
  readonly agent: Connections
  /** The time for the whole answer of an app, in milliseconds. */
  readonly answerMs: number
}

interface AppRequest {
  /** The request's name in metrics and traces. */
  readonly call: 'provision' | 'uninstall' | 'checkout'
  readonly path: string
  readonly token: string
  readonly body: unknown
  readonly signal?: AbortSignal
}

/** The bytes of an answer that are read. */
export const KEPT_BYTES = 64 * 1024

/**
 * Sends a request to an app, by the rules for addresses that outsiders choose (OP-81), in a client span that shows only
 * the host of the address. Never throws.
 */
export function callApp(
  { agent, answerMs }: AppConnection,
  { origin }: { readonly origin: string },
  { call, path, token, body, signal }: AppRequest,
): Promise<Exchange> {
  const url = new URL(path, origin)
  const outgoing = {
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'user-agent': 'Commerce-Back-Office',
    },
    body: Buffer.from(JSON.stringify(body)),
  }
  const attributes = { 'http.request.method': 'POST', 'server.address': url.hostname, 'backoffice.app_call': call }
  return inSpan('POST app', { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const startedAt = performance.now()
    const exchange = await post(agent, outgoing, {
      timeoutMs: answerMs,
      keptBytes: KEPT_BYTES,
      ...(signal && { signal }),
    })
    const outcome = exchange.failure?.class ?? 'acknowledged'
    requests.record((performance.now() - startedAt) / 1000, { call, outcome })
    if (exchange.response) span?.setAttribute('http.response.status_code', exchange.response.status)
    if (exchange.failure) noteErrorType(span, exchange.failure.class)
    return exchange
  })
}
