import { randomBytes, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger } from './logger.ts'
import { meterProvider } from './metrics.ts'
import { isParentUntrusted, isSampled, setTracer } from './spans.ts'
import type { TelemetrySettings } from './telemetry-settings.ts'

/** Spans that wait while the receiver is away; more are dropped, and counted. Some megabytes. */
const QUEUE_SPANS = 2048
const BATCH_SPANS = 512
/** The longest wait of a span for others, and for an answer of the receiver, in milliseconds. */
const SEND_AFTER_MS = 2000
const ANSWER_MS = 10_000
/** Longer values of attributes are cut: they should be names or ids. */
const LONGEST_ATTRIBUTE = 256
/** How often the log says that the receiver is away. */
const WARN_EVERY_MS = 60_000

/** Exports the spans of this process from now on. Returns a function that sends what waits and ends the export. */
export function exportTraces(
  service: string,
  settings: TelemetrySettings & { readonly OTEL_EXPORTER_OTLP_ENDPOINT: string },
  logger: Pick<Logger, 'warn'>,
): () => Promise<void> {
  const exporter = new OTLPTraceExporter({
    url: `${settings.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/$/, '')}/v1/traces`,
    headers: settings.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMillis: ANSWER_MS,
    // One request at a time. At the stop all waiting spans are sent at once.
    concurrencyLimit: 1 + QUEUE_SPANS / BATCH_SPANS,
  })
  const processor = new BatchSpanProcessor({
    exporter: warning(exporter, logger),
    maxQueueSize: QUEUE_SPANS,
    maxExportBatchSize: BATCH_SPANS,
    scheduledDelayMillis: SEND_AFTER_MS,
    exportTimeoutMillis: ANSWER_MS,
    selfObsMeterProvider: meterProvider,
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'host.name': hostname(),
      'process.pid': process.pid,
      'service.instance.id': randomUUID(),
      ...settings.OTEL_RESOURCE_ATTRIBUTES,
      'service.name': service,
    }),
    sampler: traceSampler(settings),
    spanLimits: { attributeValueLengthLimit: LONGEST_ATTRIBUTE },
    spanProcessors: [processor],
  })
  setTracer(provider.getTracer('backoffice'), settings.OTEL_TRACES_SAMPLER.startsWith('parentbased_'))
  return async () => {
    setTracer(undefined)
    await provider.shutdown()
  }
}

/** Logs that spans are lost, once a minute at most. */
function warning(exporter: SpanExporter, logger: Pick<Logger, 'warn'>): SpanExporter {
  let warnedAt = Number.NEGATIVE_INFINITY
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error && performance.now() - warnedAt > WARN_EVERY_MS) {
          warnedAt = performance.now()
          logger.warn({ err: result.error, spans: spans.length }, 'spans could not be exported and are lost')
        }
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

type SamplerSettings = Pick<TelemetrySettings, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>

/**
 * Decides which traces are recorded. A `parentbased_…` sampler also records what links to a recorded trace. For a
 * client's trace it decides by a random id: by the trace id, clients could have all their requests recorded.
 */
function traceSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: SamplerSettings): Sampler {
  const root = rootSampler(name.replace('parentbased_', ''), ratio)
  const parentBased = name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : undefined
  return {
    shouldSample(context, traceId, spanName, kind, attributes, links) {
      if (isParentUntrusted(context)) {
        return root.shouldSample(context, randomBytes(16).toString('hex'), spanName, kind, attributes, links)
      }
      if (parentBased === undefined) return root.shouldSample(context, traceId, spanName, kind, attributes, links)
      const isLinked = links.length > 0
      if (isLinked && links.some((link) => isSampled(link.context)))
        return { decision: SamplingDecision.RECORD_AND_SAMPLED }
      if (isLinked) return { decision: SamplingDecision.NOT_RECORD }
      return parentBased.shouldSample(context, traceId, spanName, kind, attributes, links)
    },
    toString: () => name,
  }
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler()
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio)
}
