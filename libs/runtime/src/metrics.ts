import { metrics as api, type Meter } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

export type { Meter }

/** Histogram bounds for durations in seconds, from 1 ms to 30 s. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Starts collecting this process's metrics and returns what renders them in the Prometheus text format. Instruments
 * come from `meter(...)`, before or after this call.
 */
export function startMetrics(): () => Promise<string> {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  api.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
  const serializer = new PrometheusSerializer()
  return async () => serializer.serialize((await exporter.collect()).resourceMetrics)
}

/** The meter of one part of the system, such as `postgres` or `relay`. */
export const meter = (part: string): Meter => api.getMeter(part)
