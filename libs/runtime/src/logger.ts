import { type Logger, pino } from 'pino'
import { loggedError } from './logged-error.ts'
import { traceIds } from './spans.ts'

export type { Logger }

/** Writes JSON lines to standard output, with the active span's ids, and of an error what may be logged. */
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
