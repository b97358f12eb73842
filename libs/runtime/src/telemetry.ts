import { setTimeout as pause } from 'node:timers/promises'
import type { Component } from './component.ts'
import type { Logger } from './logger.ts'
import type { TelemetrySettings } from './telemetry-settings.ts'

/** The longest time that a stop waits for the export of spans: the receiver may be away. */
const FLUSH_WITHIN_MS = 1000

const loadExport = () => import('./trace-export.ts')
// Loaded with the other modules, before the configuration is read: a start without a configuration fills the compile
// cache.
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) await loadExport()

/** Exports traces; stops last, sends what waits, and never fails. Without an endpoint the SDK is not loaded. */
export async function startTelemetry(
  service: string,
  settings: TelemetrySettings,
  logger: Pick<Logger, 'warn'>,
): Promise<Component | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED } = settings
  if (OTEL_EXPORTER_OTLP_ENDPOINT === undefined || OTEL_SDK_DISABLED === 'true') return undefined
  const { exportTraces } = await loadExport()
  const end = exportTraces(service, { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT }, logger)
  return {
    name: 'telemetry',
    async stop() {
      await Promise.race([end().catch(() => undefined), pause(FLUSH_WITHIN_MS, undefined, { ref: false })])
    },
  }
}
