import { type DestinationStream, type Logger, pino } from 'pino'
import { loggedError } from './logged-error.ts'
import { type TraceIds, traceIds } from './spans.ts'

export type { Logger }

/** How long a line waits for others to be written with, in milliseconds, and how many bytes make it wait no longer. */
const [GATHERED_MS, GATHERED_BYTES] = [50, 4096]
/** Lines that wait while nobody reads standard output. Further ones are lost, so that memory is bounded. */
const MOST_BYTES = 4 * 1024 * 1024

/** Writes JSON lines to standard output, with the active span's ids, and of an error what may be logged. */
export function createLogger(service: string, level: string, output?: DestinationStream): Logger {
  const options = {
    level,
    base: { service },
    mixin: () => traceIds(),
    // What is logged stays as it is when no span is active: a copy of each line takes longer than writing it.
    mixinMergeStrategy: (logged: object, ids: TraceIds) =>
      ids.trace_id === undefined ? logged : { ...ids, ...logged },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: loggedError },
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const onLost = (lines: number) => logger.error({ lines }, 'lines of the log were lost: nobody read standard output')
  const logger = pino(options, output ?? standardOutput(onLost))
  return logger
}

/** Writes lines together: each write wakes a thread. What waits is written when the process exits; kill -9 loses it. */
function standardOutput(onLost: (lines: number) => void): DestinationStream {
  const output = pino.destination({ dest: 1, minLength: GATHERED_BYTES, maxLength: MOST_BYTES, sync: false })
  let lost = 0
  output.on('drop', () => void lost++)
  output.on('drain', () => {
    if (lost === 0) return
    const lines = lost
    lost = 0
    onLost(lines)
  })
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
