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
  /** In our log and the app's; of a checkout also in the answer to the client. */
  readonly requestId: string
  /** The same for every attempt at the same. */
  readonly idempotencyKey: string
  /** Of a repeated call: its number, and what the app did the time before. */
  readonly repeated?: { readonly attempt: number; readonly lastFailure: string | null }
  readonly token: string
  readonly body: unknown
  readonly signal?: AbortSignal
  /** As in `Limits` of `post`. */
  mayBegin?(): boolean
}

/** A text as the value of a header: an app's certificate, say, may have put any characters into a message. */
const headerText = (text: string): string =>
  text
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, 500)
    .trim()

/** The bytes of an answer that are read. */
export const KEPT_BYTES = 64 * 1024

/**
 * Sends a request to an app, by the rules for addresses that outsiders choose (OP-81), in a client span that shows only
 * the host of the address. Never throws.
 */
export function callApp(
  { agent, answerMs }: AppConnection,
  { origin, workspace_id }: { readonly origin: string; readonly workspace_id: string },
  { call, path, requestId, idempotencyKey, repeated, token, body, signal, mayBegin }: AppRequest,
): Promise<Exchange> {
  const url = new URL(path, origin)
  const outgoing = {
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'user-agent': 'Commerce-Back-Office',
      'x-request-id': requestId,
      'backoffice-workspace': workspace_id,
      'idempotency-key': idempotencyKey,
      ...(repeated && { 'backoffice-attempt': String(repeated.attempt) }),
      ...(repeated?.lastFailure && { 'backoffice-last-failure': headerText(repeated.lastFailure) }),
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
      ...(mayBegin && { mayBegin }),
    })
    const outcome = exchange.failure?.class ?? 'acknowledged'
    requests.record((performance.now() - startedAt) / 1000, { call, outcome })
    if (exchange.response) span?.setAttribute('http.response.status_code', exchange.response.status)
    if (exchange.failure) noteErrorType(span, exchange.failure.class)
    return exchange
  })
}
