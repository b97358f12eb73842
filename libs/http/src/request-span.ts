import { noteErrorType, type Span, SpanKind, startSpan, within } from '@backoffice/runtime/spans.ts'
import { spanContextFrom, traceparentOf, unsampled } from '@backoffice/runtime/trace-context.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's span; undefined without telemetry, and for a request that the router refuses. */
    span: Span | undefined
  }
}

/**
 * Begins a server span for each request. Only a trusted caller decides if the trace is recorded. Attributes hold ids
 * and names only: a path may contain a secret, and the client writes the body.
 */
export function traceRequests(app: FastifyInstance, isCallerTrusted: boolean): void {
  app.decorateRequest('span')
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, routeOptions, headers, id } = request
    const route = routeOptions.url
    const parent = spanContextFrom(headers.traceparent, headers.tracestate)
    // Needed without telemetry too: the header is passed on to services, which would follow it.
    if (parent && !isCallerTrusted) headers.traceparent = traceparentOf(unsampled(parent))
    request.span = startSpan(route === undefined ? method : `${method} ${route}`, {
      kind: SpanKind.SERVER,
      parent,
      isParentTrusted: isCallerTrusted,
      attributes: { 'http.request.method': method, 'http.route': route, 'backoffice.request_id': id },
    })
    within(request.span, done)
  })
  // The body is read outside of the span's context.
  app.addHook('preValidation', (request, _reply, done) => within(request.span, done))
}

/** Ends a request's span with the values of its log line, whose `route` is more exact than the router's. */
export function endRequestSpan({ span, method, logged }: FastifyRequest, status: number): void {
  if (!span?.isRecording()) return
  const { route } = logged
  if (typeof route === 'string') span.updateName(`${method} ${route}`).setAttribute('http.route', route)
  for (const name of ['workspace_id', 'upstream', 'error_code']) {
    if (typeof logged[name] === 'string') span.setAttribute(`backoffice.${name}`, logged[name])
  }
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) noteErrorType(span, String(logged.error_code ?? status))
  span.end()
}
