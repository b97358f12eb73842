import { type Logger, pino } from 'pino'

export type { Logger }

/** A JSON-lines logger on standard output: `time` in ISO 8601, `level` as a word, `service` on every line. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  })
}
