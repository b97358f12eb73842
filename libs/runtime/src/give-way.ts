import { setTimeout as pause, setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { hasRecentRequests } from './recent-requests.ts'

/** To be awaited often by work that computes for long, so that requests do not wait for it. */
export type GiveWay = () => Promise<void>

/** How long a piece of work computes at a time, in milliseconds. */
const SLICE_MS = 2
/** While requests come, background work rests so many times as long as it worked. */
const REST = 4
/** The longest rest after a slice. A slice that waited for a lock may have taken long. */
const LONGEST_REST_MS = 200

/** A piece of work rests so long altogether: it holds locks, and somebody waits for its end after all. */
const RESTS_MS = 2000

/** Until when the rests of all background work of the process last, one after the other. */
let restsUntil = Number.NEGATIVE_INFINITY

/** For a request that computes for long: others run between its slices. Begins a piece of work. */
export const lettingOthersRun = (): GiveWay => inSlices(yieldToEventLoop)

/**
 * For background work: it also rests while requests come, so that all of it together leaves them most of the time of
 * the process and of PostgreSQL. Begins a piece of work.
 */
export function requestsFirst(): GiveWay {
  let leftMs = RESTS_MS
  return inSlices((workedMs) => {
    if (leftMs <= 0 || !hasRecentRequests()) return yieldToEventLoop()
    const now = performance.now()
    restsUntil = Math.max(restsUntil, now) + Math.min(workedMs * REST, LONGEST_REST_MS)
    leftMs -= restsUntil - now
    return pause(restsUntil - now)
  })
}

/** What the work waits for counts as its time: PostgreSQL computes meanwhile. */
function inSlices(rest: (workedMs: number) => Promise<unknown>): GiveWay {
  let resumedAt = performance.now()
  return async () => {
    const workedMs = performance.now() - resumedAt
    if (workedMs < SLICE_MS) return
    await rest(workedMs)
    resumedAt = performance.now()
  }
}
