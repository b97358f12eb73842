/** What is known of how fast an endpoint answers: nothing yet, within a second, or slower than that, if at all. */
export type Standing = 'unknown' | 'quick' | 'slow'

/** How an endpoint is attempted. */
export interface Pace {
  readonly standing: Standing
  /** Attempts in flight at most. */
  readonly width: number
  /** When this was learnt (`performance.now()`). */
  readonly learntAt: number
}

/** An attempt that ended. */
export interface Ended {
  readonly durationMs: number
  readonly isDelivered: boolean
}

/** Attempts in flight to one endpoint at most. */
export const WIDEST = 10
/** An answer that takes longer is a slow one, and an endpoint that ends no attempt for so long is not answering, for now. */
export const SLOW_AFTER_MS = 1000

/** After so long without an attempt it is felt again how fast an endpoint answers. */
const IDLE_MS = 2000

/** Of an endpoint that nothing is known of. */
export const UNKNOWN: Pace = { standing: 'unknown', width: 2, learntAt: 0 }
/** Of an endpoint that may not have answered lately: deliveries wait for it. */
export const SUSPECT: Pace = { standing: 'slow', width: 1, learntAt: 0 }

/** The pace after an attempt: each delivery widens it by one, each failure that was slow to come halves it. */
export function paceAfter({ width }: Pace, { durationMs, isDelivered }: Ended, now: number): Pace {
  const isSlow = durationMs >= SLOW_AFTER_MS
  const standing = isSlow ? 'slow' : 'quick'
  if (isDelivered) return { standing, width: Math.min(WIDEST, width + 1), learntAt: now }
  return { standing, width: isSlow ? half(width) : width, learntAt: now }
}

/** The pace of an endpoint that has attempts in flight and ended none for a second. */
export const paceInSilence = ({ width }: Pace, now: number): Pace => ({
  standing: 'slow',
  width: half(width),
  learntAt: now,
})

/** The pace of an endpoint that nothing was held for since it was learnt. */
export const paceRecalled = (pace: Pace, now: number): Pace =>
  now - pace.learntAt > IDLE_MS ? { ...pace, width: Math.min(pace.width, UNKNOWN.width) } : pace

/** Jobs claimed for an endpoint at once: as many as keep it busy for a while, and of the others as few as will do. */
const CLAIMED = 64
const fewOf = (width: number): number => 2 * width + 2

/** How many jobs are held for an endpoint when some are claimed for it. */
export const claimedAtMost = ({ standing, width }: Pace): number => (standing === 'quick' ? CLAIMED : fewOf(width))

/** How many wait for an endpoint in memory at most: more would only wait longer, and in the table they cost nothing. */
export const heldAtMost = ({ standing, width }: Pace): number =>
  standing === 'slow' ? fewOf(width) : Number.POSITIVE_INFINITY

const half = (width: number): number => Math.max(1, Math.floor(width / 2))
