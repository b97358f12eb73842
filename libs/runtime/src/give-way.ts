import { hasRecentRequests } from './recent-requests.ts'

/** To be awaited often by work that computes for long, so that requests do not wait for it. */
export type GiveWay = () => Promise<void>

/** A piece of background work. What it waits for counts as its time, since PostgreSQL may compute meanwhile. */
export interface BackgroundWork {
  readonly giveWay: GiveWay
  /** To be called at its end, after the commit. */
  end(): void
}

/** How long a piece of work computes at a time, in milliseconds. */
const SLICE_MS = 2
/** While requests come, background work rests so many times as long as it works. */
const REST = 4
/** So many of these rests come within a piece of work, where it may hold locks; the others come after it. */
const REST_WITHIN = 1
/** The longest rests, after a slice and before the next piece. Work that waited for a lock would rest for too long. */
const LONGEST_MS = { slice: 100, afterwards: 2000 }

/**
 * How long a worker rests after work since `startedAt` (`performance.now()`), in milliseconds: `times` as long as it
 * took, but no longer than 2 s, since it may have waited for a server, or the machine was suspended.
 */
export const restAfter = (startedAt: number, times = 1): number =>
  Math.min(times * (performance.now() - startedAt), LONGEST_MS.afterwards)

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/** For a request that computes for long: others run between its slices. */
export function lettingOthersRun(): GiveWay {
  let resumedAt = performance.now()
  return async () => {
    if (performance.now() - resumedAt < SLICE_MS) return
    await yieldToEventLoop()
    resumedAt = performance.now()
  }
}

/** The background work of a process. While requests come, it leaves them most of the time, PostgreSQL's too. */
export function backgroundTime(hasRequests: () => boolean) {
  /** Until when it rests: the rests after its pieces come one after the other. */
  let restsUntil = Number.NEGATIVE_INFINITY
  return {
    /** Begins a piece of work, after `restsAreOver`. */
    backgroundWork(): BackgroundWork {
      let resumedAt = performance.now()
      let owedMs = 0
      return {
        async giveWay() {
          const workedMs = performance.now() - resumedAt
          if (workedMs < SLICE_MS) return
          if (hasRequests()) owedMs += workedMs * (REST - REST_WITHIN)
          await (hasRequests() ? pause(Math.min(workedMs * REST_WITHIN, LONGEST_MS.slice)) : yieldToEventLoop())
          resumedAt = performance.now()
        },
        end() {
          if (!hasRequests()) return
          const now = performance.now()
          owedMs += (now - resumedAt) * REST
          restsUntil = Math.min(Math.max(restsUntil, now) + owedMs, now + LONGEST_MS.afterwards)
        },
      }
    },

    /** Waits until the rests after the pieces so far are over, or no requests come any more. */
    async restsAreOver(): Promise<void> {
      const until = restsUntil
      while (until > performance.now() && hasRequests())
        await pause(Math.min(until - performance.now(), LONGEST_MS.slice))
    },
  }
}

export const { backgroundWork, restsAreOver } = backgroundTime(hasRecentRequests)
