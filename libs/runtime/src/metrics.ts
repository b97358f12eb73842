import type { Meter } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

export type { Meter }

/** Histogram bounds in seconds. The objectives (0.15, 0.2, 2, 5, 10) are among them. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.5, 1, 2, 5, 10, 30, 60]

const exporter = new PrometheusExporter({ preventServerStart: true })
// Created on import: a meter that is taken from the API's global provider before that is set measures nothing.
const provider = new MeterProvider({ readers: [exporter] })

export { provider as meterProvider }

/** The meter of one area of the system, such as `postgres` or `relay`. */
export const meter = (area: string): Meter => provider.getMeter(area)

/** Prometheus adds labels for the target itself, and no query uses the area of a metric. */
const [withoutTarget, withoutArea] = [true, true]
const serializer = new PrometheusSerializer(undefined, false, undefined, withoutTarget, withoutArea)

/** This process's metrics in the Prometheus text format. */
export const metricsText = async (): Promise<string> => serializer.serialize((await exporter.collect()).resourceMetrics)
