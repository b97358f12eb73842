import { randomInt } from 'node:crypto'
import { v7 } from 'uuid'

/** Unix time in milliseconds. */
let read: () => number = Date.now

/** The time. A service's is that of its database, since the clock of a host may be wrong (OP-302). */
export const currentTime = (): Date => new Date(read())

/** The time and the number of the latest id. */
let latest = { msecs: 0, seq: 0 }
const FIRST_BELOW = 2 ** 31

/** From now on, the time of the process is what `clock` tells, in Unix milliseconds. */
export function setTimeBy(clock: () => number): void {
  read = clock
  latest = { msecs: 0, seq: 0 }
}

/** Ids keep their order while the clock goes back by less than this, in milliseconds. */
const SMALL_STEP_MS = 60_000

/** A new UUID v7 of now, greater than those before. With `at`, one of that time: two of a millisecond have no order. */
export function newId(at?: Date): string {
  if (at !== undefined) return v7({ msecs: at.getTime() })
  const msecs = Math.floor(read())
  if (msecs > latest.msecs || msecs < latest.msecs - SMALL_STEP_MS) latest = { msecs, seq: randomInt(FIRST_BELOW) }
  else latest.seq++
  return v7(latest)
}
