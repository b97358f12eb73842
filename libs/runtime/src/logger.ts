import { type DestinationStream, type Logger, pino } from 'pino'
import { loggedError } from './logged-error.ts'
import { traceIds } from './spans.ts'

export type { Logger }

/** How long a line waits for others to be written with, in milliseconds, and how many bytes make it wait no longer. */
const [GATHERED_MS, GATHERED_BYTES] = [50, 4096]

/** Writes JSON lines to standard output, with the active span's ids, and of an error what may be logged. */
export function createLogger(service: string, level: string, output: DestinationStream = standardOutput()): Logger {
  const options = {
    level,
    base: { service },
    mixin: () => traceIds(),
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: loggedError },
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return pino(options, output)
}

/** Writes lines together: each write wakes a thread. What waits is written when the process exits; kill -9 loses it. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, minLength: GATHERED_BYTES, sync: false })
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    timer = undefined
    output.flush()
  }
  return {
    write(line) {
      output.write(line)
      if (timer === undefined) timer = setTimeout(flush, GATHERED_MS).unref()
    },
  }
}
