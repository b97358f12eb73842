/** Lets a loop wait for work with a time limit. A `wake` while nobody waits ends the next wait at once. */
export function wakeSignal() {
  let isWoken = false
  let end = (): void => undefined
  return {
    wake(): void {
      isWoken = true
      end()
    },
    async wait(ms: number): Promise<void> {
      // No AbortController: each abort makes an error with its stack, and there are several wakes to a delivery.
      if (!isWoken) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        end = resolve
        await promise
        clearTimeout(timer)
      }
      isWoken = false
    },
  }
}

/** In a process in which nothing has happened for so long, loops look once in the other time, in milliseconds. */
const [RESTS_AFTER_MS, IDLE_LOOK_MS] = [10_000, 5000]

/**
 * A wake signal for a loop that looks for work again and again. Such work comes of requests and records, so a process
 * that has had none looks seldom: for what a process that died has left, and for what becomes due.
 */
export function restingSignal() {
  const { wake, wait } = wakeSignal()
  let rousedAt: number | undefined
  let restingMs: number | undefined
  return {
    wake,
    wait,
    /** A request or records were handled: ends a rest. There is none before the first call. */
    rouse(): void {
      rousedAt = performance.now()
      if (restingMs === undefined) return
      setTimeout(wake, restingMs).unref()
      restingMs = undefined
    },
    /** Waits for `ms` after a look that has found nothing, longer while the process rests. */
    async rest(ms: number): Promise<void> {
      const isResting = rousedAt !== undefined && performance.now() - rousedAt > RESTS_AFTER_MS
      if (isResting) restingMs = ms
      await wait(isResting ? Math.max(ms, IDLE_LOOK_MS) : ms)
      restingMs = undefined
    },
  }
}
