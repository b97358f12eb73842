import { z } from 'zod'

/** `key=value` pairs separated by commas, with percent-encoded values, as the OTEL_* variables have them. */
const KeyValues = z
  .string()
  .default('')
  .transform((text, context): Record<string, string> => {
    try {
      const pairs = text.split(',').filter((pair) => pair.trim() !== '')
      return Object.fromEntries(pairs.map(pairOf))
    } catch {
      context.addIssue('is not key=value,key=value with percent-encoded values')
      return z.NEVER
    }
  })

function pairOf(pair: string): [key: string, value: string] {
  const at = pair.indexOf('=')
  if (at < 1) throw new Error('no key')
  return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]
}

/** The standard variables of OpenTelemetry that every process reads. */
export const TELEMETRY_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where traces go over OTLP/HTTP, such as `http://collector:4318`; without it nothing is traced.'),
  OTEL_EXPORTER_OTLP_HEADERS: KeyValues.describe(
    'Headers of the requests to it, such as `authorization=Bearer%20…`.',
  ).meta({ secret: true }),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .default('parentbased_always_on')
    .describe(
      'Which traces are recorded. With `parentbased_…`, a trace that the gateway samples is recorded whole. `traceidratio` alone goes by the trace id, which clients choose.',
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('The share of traces that `traceidratio` records, from 0 to 1.'),
  OTEL_RESOURCE_ATTRIBUTES: KeyValues.describe(
    'Attributes of the process in all its traces, such as `service.version=1.4.0,deployment.environment.name=production`.',
  ),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false').describe('Turns traces off.'),
} as const

export type TelemetrySettings = z.output<z.ZodObject<typeof TELEMETRY_SETTINGS>>
