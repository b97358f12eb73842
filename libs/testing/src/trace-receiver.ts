import { createLogger } from '@backoffice/runtime/logger.ts'
import { startTelemetry } from '@backoffice/runtime/telemetry.ts'
import { TELEMETRY_SETTINGS } from '@backoffice/runtime/telemetry-settings.ts'
import { z } from 'zod'
import { startReceiver } from './receiver.ts'
import { whenDone } from './when-done.ts'

/** OTLP/HTTP in JSON: opentelemetry-proto, trace/v1/trace.proto. */
const Value = z.looseObject({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
  boolValue: z.boolean().optional(),
})
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .default([])
  .transform((all): Record<string, unknown> => Object.fromEntries(all.map(({ key, value }) => [key, plain(value)])))
const OtlpSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: Attributes,
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
  events: z.array(z.object({ name: z.string() })).default([]),
  status: z.object({ code: z.number(), message: z.string().optional() }),
})
const Request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(OtlpSpan) })),
    }),
  ),
})

/** A span as the receiver got it. */
export type ReceivedSpan = z.output<typeof OtlpSpan> & { readonly resource: Record<string, unknown> }

/** Starts an OTLP receiver: an HTTP server that keeps the spans it gets. */
export async function startTraceReceiver() {
  const receiver = await startReceiver()
  receiver.answerWith((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  return {
    ...receiver,
    /** All spans so far, in the order they came. */
    spans: (): ReceivedSpan[] => receiver.requests.flatMap(({ body }) => spansIn(body)),
  }
}

function spansIn(body: Buffer): ReceivedSpan[] {
  const { resourceSpans } = Request.parse(JSON.parse(body.toString()))
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, resource: resource.attributes }))),
  )
}

const plain = ({ stringValue, intValue, boolValue }: z.output<typeof Value>): unknown =>
  stringValue ?? (intValue === undefined ? boolValue : Number(intValue))

/** Records the spans of this process while `work` runs, and returns them. `settings` are OTEL_* variables. */
export async function recordSpans(
  work: () => Promise<unknown>,
  settings: Readonly<Record<string, string>> = {},
): Promise<ReceivedSpan[]> {
  const receiver = await startTraceReceiver()
  const { stop } = await traceTo(receiver, settings)
  await work()
  await stop()
  return receiver.spans()
}

/** Exports the spans of this process to a receiver until `stop`, which sends what waits, or the end of the test. */
export async function traceTo({ url }: { readonly url: string }, settings: Readonly<Record<string, string>> = {}) {
  const variables = z.object(TELEMETRY_SETTINGS).parse({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...settings })
  const telemetry = await startTelemetry('sample', variables, createLogger('test', 'silent'))
  const stop = async () => telemetry?.stop?.()
  whenDone(stop)
  return { stop }
}
