import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

/** Histogram bounds in seconds. The objectives (0.15, 0.2, 2, 5, 10) are among them. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.5, 1, 2, 5, 10, 30, 60]

const exporter = new PrometheusExporter({ preventServerStart: true })
// Created on import: a meter that is taken from the API's global provider before that is set measures nothing.
const provider = new MeterProvider({ readers: [exporter] })

export { provider as meterProvider }

/** The meter of all metrics. */
export const meter = provider.getMeter('backoffice')

export const counter = (name: string, description: string) => meter.createCounter(name, { description })

export const upDownCounter = (name: string, description: string) => meter.createUpDownCounter(name, { description })

export const gauge = (name: string, description: string, unit = '') => meter.createGauge(name, { description, unit })

/** A histogram of durations in seconds. */
export const durations = (name: string, description: string) =>
  meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: SECONDS } })

/** Prometheus adds labels for the target itself, and there is one meter. */
const [withoutTarget, withoutMeter] = [true, true]
const serializer = new PrometheusSerializer(undefined, false, undefined, withoutTarget, withoutMeter)

/** This process's metrics in the Prometheus text format. */
export const metricsText = async (): Promise<string> => serializer.serialize((await exporter.collect()).resourceMetrics)
