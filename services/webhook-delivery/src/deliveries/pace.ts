/** How fast an endpoint answers: `unknown` so far, `quick` within a second, `slow` later or not at all. */
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
/** An endpoint is slow when an answer takes this long, or when no attempt has ended for this long, in milliseconds. */
export const SLOW_AFTER_MS = 1000
/** An answer is quick enough up to `times` the usual duration plus `ms` milliseconds: machines and networks vary. */
const AS_QUICK = { times: 1.5, ms: 20 } as const
/** The weight of an answer in the usual duration. A later one has little: too many in flight delay answers for a while. */
const WEIGHT = { quicker: 0.1, later: 0.02 } as const

/** After this time without an ended attempt a new lane starts with a small width again, in milliseconds. */
const IDLE_MS = 2000

/** The pace of an unknown endpoint. */
export const UNKNOWN: Pace = { standing: 'unknown', width: 2, learntAt: 0 }
/** The pace of an unknown endpoint with waiting deliveries: perhaps it does not answer. */
export const SUSPECT: Pace = { standing: 'slow', width: 1, learntAt: 0 }

/**
 * The pace after an attempt (OP-105). A quick delivery widens it by one: up to FEW in any case, up to WIDEST while answers are as
 * quick as usual. A less quick one narrows it by one, but not below FEW. A slow delivery widens it to FEW at most. A failure
 * halves it: a quick one not below FEW, a slow one to FEW at most.
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

/** The new usual duration. With more than FEW in flight only quicker answers count: the load may delay the others. */
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

/** The pace of an endpoint when it gets jobs again. */
export const paceRecalled = (pace: Pace, now: number): Pace =>
  now - pace.learntAt > IDLE_MS ? { ...pace, width: Math.min(pace.width, UNKNOWN.width) } : pace

/** Jobs claimed ahead for a quick endpoint: enough to keep it busy until the next claim. Other endpoints get `fewOf`. */
const CLAIMED = { least: 64, each: 16, most: 512 } as const
const fewOf = (width: number): number => 2 * width + 2

/** The number of jobs up to which an endpoint is filled by a claim. */
export const claimedAtMost = ({ standing, width }: Pace): number =>
  standing === 'quick' ? Math.min(CLAIMED.most, Math.max(CLAIMED.least, CLAIMED.each * width)) : fewOf(width)

/** The most jobs of an endpoint in memory. Those of slow endpoints wait in the table, where they cost nothing. */
export const heldAtMost = ({ standing, width }: Pace): number =>
  standing === 'slow' ? fewOf(width) : Number.POSITIVE_INFINITY

const half = (width: number): number => Math.max(1, Math.floor(width / 2))
