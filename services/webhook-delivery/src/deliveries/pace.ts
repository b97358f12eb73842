/** What is known of how fast an endpoint answers: nothing yet, within a second, or slower than that, if at all. */
export type Standing = 'unknown' | 'quick' | 'slow'

/** How an endpoint is attempted. */
export interface Pace {
  readonly standing: Standing
  /** Attempts in flight at most. */
  readonly width: number
  /** How long its deliveries take with few in flight, in milliseconds; undefined before the first. */
  readonly usualMs?: number | undefined
  /** When this was learnt (`performance.now()`). */
  readonly learntAt: number
}

/** An attempt that ended. */
export interface Ended {
  readonly durationMs: number
  readonly isDelivered: boolean
}

/** Attempts in flight that any endpoint may have when it delivers. */
export const FEW = 10
/** Attempts in flight to one endpoint at most, while its answers come as quickly as with few. */
export const WIDEST = 128
/** An answer that takes longer is a slow one, and an endpoint that ends no attempt for so long is not answering, for now. */
export const SLOW_AFTER_MS = 1000
/** An answer is as quick as usual up to so many times what is usual and so many milliseconds: machines and networks vary. */
const AS_QUICK = { times: 1.5, ms: 20 } as const
/** The weight of one answer in what is usual: of a later one it is small, since those behind too many in flight come late for a while. */
const WEIGHT = { quicker: 0.1, later: 0.02 } as const

/** After so long without an attempt it is felt again how fast an endpoint answers. */
const IDLE_MS = 2000

/** Of an endpoint that nothing is known of. */
export const UNKNOWN: Pace = { standing: 'unknown', width: 2, learntAt: 0 }
/** Of an endpoint that may not have answered lately: deliveries wait for it. */
export const SUSPECT: Pace = { standing: 'slow', width: 1, learntAt: 0 }

/**
 * The pace after an attempt (OP-105). Each delivery widens it by one: up to ten in any case, further while answers come as quickly as
 * with ten. Each that takes longer narrows it by one, so that it is back at ten when a round of answers was late. A failure halves it,
 * down to ten when it came quickly, down to one otherwise.
 */
export function paceAfter(pace: Pace, { durationMs, isDelivered }: Ended, now: number): Pace {
  const { width } = pace
  const isSlow = durationMs >= SLOW_AFTER_MS
  const after = { standing: isSlow ? 'slow' : 'quick', usualMs: pace.usualMs, learntAt: now } as const
  if (!isDelivered)
    return { ...after, width: isSlow ? Math.min(FEW, half(width)) : Math.min(width, Math.max(FEW, half(width))) }
  if (isSlow) return { ...after, width: Math.min(FEW, width + 1) }
  const usualMs = usualAfter(pace, durationMs)
  if (width < FEW) return { ...after, usualMs, width: width + 1 }
  const isAsQuick = durationMs <= AS_QUICK.times * usualMs + AS_QUICK.ms
  return { ...after, usualMs, width: isAsQuick ? Math.min(WIDEST, width + 1) : Math.max(FEW, width - 1) }
}

/** With many in flight an answer may take long because of them, so that only quicker ones count. */
function usualAfter({ usualMs, width }: Pace, durationMs: number): number {
  if (usualMs === undefined) return durationMs
  if (durationMs <= usualMs) return usualMs + WEIGHT.quicker * (durationMs - usualMs)
  return width > FEW ? usualMs : usualMs + WEIGHT.later * (durationMs - usualMs)
}

/** The pace of an endpoint that has attempts in flight and ended none for a second. */
export const paceInSilence = ({ width, usualMs }: Pace, now: number): Pace => ({
  standing: 'slow',
  width: Math.min(FEW, half(width)),
  usualMs,
  learntAt: now,
})

/** The pace of an endpoint that nothing was held for since it was learnt. */
export const paceRecalled = (pace: Pace, now: number): Pace =>
  now - pace.learntAt > IDLE_MS ? { ...pace, width: Math.min(pace.width, UNKNOWN.width) } : pace

/** Jobs claimed for an endpoint ahead: as many as keep it busy until the next come, and of the others as few as will do. */
const CLAIMED = { least: 64, each: 16, most: 512 } as const
const fewOf = (width: number): number => 2 * width + 2

/** How many jobs are held for an endpoint when some are claimed for it. */
export const claimedAtMost = ({ standing, width }: Pace): number =>
  standing === 'quick' ? Math.min(CLAIMED.most, Math.max(CLAIMED.least, CLAIMED.each * width)) : fewOf(width)

/** How many wait for an endpoint in memory at most: more would only wait longer, and in the table they cost nothing. */
export const heldAtMost = ({ standing, width }: Pace): number =>
  standing === 'slow' ? fewOf(width) : Number.POSITIVE_INFINITY

const half = (width: number): number => Math.max(1, Math.floor(width / 2))
