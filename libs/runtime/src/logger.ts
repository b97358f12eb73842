import { type Logger, pino } from 'pino'
import { loggedError } from './logged-error.ts'
import { traceIds } from './spans.ts'

export type { Logger }

/**
 * A JSON-lines logger on standard output: `time` in ISO 8601, `level` as a word, `service` on every line, the ids of
 * the active span, and of an error (`err`) only what may be logged.
 */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    mixin: () => traceIds(),
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: loggedError },
    formatters: { level: (label) => ({ level: label }) },
  })
}
