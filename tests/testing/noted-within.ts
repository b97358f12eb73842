import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The longest time from sending a request to noting it at the receiver, or from its answer to its record. */
const NOTED_WITHIN_MS = 2000

const stalls = monitorEventLoopDelay()
stalls.enable()

/** The most of a stall that counts: a longer one may not excuse what it has nothing to do with. */
const LONGEST_STALL_MS = 2000

/** As long as that, and as this process has stood still at most: then the machine may have. In milliseconds. */
export const notedWithinMs = (): number => NOTED_WITHIN_MS + Math.min(stalls.max / 1e6, LONGEST_STALL_MS)
