import { randomBytes } from 'node:crypto'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import { isParentUntrusted, isSampled } from './spans.ts'
import type { TelemetrySettings } from './telemetry-settings.ts'

type SamplerSettings = Pick<TelemetrySettings, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>

/**
 * Decides which traces are recorded. A `parentbased_…` sampler also records a trace with a link to a recorded one. For
 * a client's trace a sampler decides anew, with a random id instead of the trace id: otherwise clients could have all
 * their requests recorded.
 */
export function traceSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: SamplerSettings): Sampler {
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
