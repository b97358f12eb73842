/** How fast an endpoint answers: `unknown` so far, `quick` within a second, `slow` later or not at all. */
export type Responsiveness = 'unknown' | 'quick' | 'slow'

/** How many attempts an endpoint may have in flight, and what that was learnt from. */
export interface Concurrency {
  readonly responsiveness: Responsiveness
  /** Attempts in flight at most. */
  readonly limit: number
  /** The moving average of its deliveries' milliseconds with few in flight; undefined before the first. */
  readonly averageMs?: number | undefined
  /** When this was learnt (`performance.now()`). */
  readonly learntAt: number
}

/** An attempt that ended. */
export interface Ended {
  readonly durationMs: number
  readonly isDelivered: boolean
  /** For so long it asked for no further request. */
  readonly retryAfterMs?: number | undefined
}

/** Attempts in flight that any endpoint may have when it delivers. */
export const BASE_CONCURRENCY = 10
/** Attempts in flight to one endpoint at most, while its answers come as quickly as with few. */
export const MAX_CONCURRENCY = 256
/** An endpoint is slow when an answer takes this long, or when no attempt has ended for this long, in milliseconds. */
export const SLOW_AFTER_MS = 1000
/** An answer is quick enough up to `times` the average duration plus `ms` milliseconds: machines and networks vary. */
const TOLERANCE = { times: 1.5, ms: 20 } as const
/** The weight of an answer in the average duration. A slower one has little: too many in flight delay answers. */
const SMOOTHING = { quicker: 0.1, slower: 0.02 } as const

/** Whether an endpoint is not known to answer in time. */
export const isUnproven = ({ responsiveness }: Pick<Concurrency, 'responsiveness'>): boolean =>
  responsiveness !== 'quick'

/** After this time without an ended attempt a new queue starts with a small limit again, in milliseconds. */
const IDLE_MS = 2000

/** The concurrency of an unknown endpoint. */
export const UNKNOWN: Concurrency = { responsiveness: 'unknown', limit: 2, learntAt: 0 }
/** The concurrency of an unknown endpoint with waiting deliveries: perhaps it does not answer. */
export const ASSUMED_SLOW: Concurrency = { responsiveness: 'slow', limit: 1, learntAt: 0 }

/**
 * The concurrency after an attempt (OP-105). A quick delivery raises the limit by one: up to BASE_CONCURRENCY in any
 * case, up to MAX_CONCURRENCY while answers are as quick as on average. A less quick one lowers it by one, but not
 * below BASE_CONCURRENCY. A slow delivery raises it to BASE_CONCURRENCY at most. A failure halves it: a quick one not
 * below BASE_CONCURRENCY, a slow one to BASE_CONCURRENCY at most. One that asked for a pause begins anew.
 */
export function afterAttempt(
  concurrency: Concurrency,
  { durationMs, isDelivered, retryAfterMs }: Ended,
  now: number,
): Concurrency {
  const { limit } = concurrency
  const isSlow = durationMs >= SLOW_AFTER_MS
  const after = {
    responsiveness: isSlow ? 'slow' : 'quick',
    averageMs: concurrency.averageMs,
    learntAt: now,
  } as const
  // It was too much: it is known as little as at first.
  if (retryAfterMs !== undefined)
    return { ...after, responsiveness: isSlow ? 'slow' : 'unknown', limit: Math.min(limit, UNKNOWN.limit) }
  if (!isDelivered)
    return {
      ...after,
      limit: isSlow
        ? Math.min(BASE_CONCURRENCY, half(limit))
        : Math.min(limit, Math.max(BASE_CONCURRENCY, half(limit))),
    }
  if (isSlow) return { ...after, limit: Math.min(BASE_CONCURRENCY, limit + 1) }
  const averageMs = averageAfter(concurrency, durationMs)
  if (limit < BASE_CONCURRENCY) return { ...after, averageMs, limit: limit + 1 }
  const isInTolerance = durationMs <= TOLERANCE.times * averageMs + TOLERANCE.ms
  return {
    ...after,
    averageMs,
    limit: isInTolerance ? Math.min(MAX_CONCURRENCY, limit + 1) : Math.max(BASE_CONCURRENCY, limit - 1),
  }
}

/** The new average duration. Above BASE_CONCURRENCY only quicker answers count: the load may delay the others. */
function averageAfter({ averageMs, limit }: Concurrency, durationMs: number): number {
  if (averageMs === undefined) return durationMs
  if (durationMs <= averageMs) return averageMs + SMOOTHING.quicker * (durationMs - averageMs)
  return limit > BASE_CONCURRENCY ? averageMs : averageMs + SMOOTHING.slower * (durationMs - averageMs)
}

/** The concurrency of an endpoint that has attempts in flight and ended none for a second. */
export const afterStall = ({ limit, averageMs }: Concurrency, now: number): Concurrency => ({
  responsiveness: 'slow',
  limit: Math.min(BASE_CONCURRENCY, half(limit)),
  averageMs,
  learntAt: now,
})

/** The concurrency of an endpoint when it gets jobs again. */
export const afterIdle = (concurrency: Concurrency, now: number): Concurrency =>
  now - concurrency.learntAt > IDLE_MS
    ? { ...concurrency, limit: Math.min(concurrency.limit, UNKNOWN.limit) }
    : concurrency

/** Jobs read ahead for a quick endpoint, to keep it busy until the next reading. Others get `fewOf`. */
const READ_AHEAD = { least: 64, each: 16, most: 512 } as const
const fewOf = (limit: number): number => 2 * limit + 2

/** The number of jobs up to which an endpoint is filled from the table. */
export const readAtMost = ({ responsiveness, limit }: Concurrency): number =>
  responsiveness === 'quick'
    ? Math.min(READ_AHEAD.most, Math.max(READ_AHEAD.least, READ_AHEAD.each * limit))
    : fewOf(limit)

/** The most jobs of an endpoint in memory. Those of slow endpoints wait in the table, where they cost nothing. */
export const heldAtMost = ({ responsiveness, limit }: Concurrency): number =>
  responsiveness === 'slow' ? fewOf(limit) : Number.POSITIVE_INFINITY

const half = (limit: number): number => Math.max(1, Math.floor(limit / 2))
