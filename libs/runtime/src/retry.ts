import { setTimeout as pause } from 'node:timers/promises'

/**
 * Runs `work` until it succeeds. After a failure it runs again when `pauseAfter` returns a pause, in milliseconds.
 * Without one, throws the error.
 */
export async function retry<Result>(
  work: () => Promise<Result>,
  pauseAfter: (error: unknown, failures: number) => number | undefined,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      const pauseMs = pauseAfter(error, failures)
      if (pauseMs === undefined) throw error
      await pause(pauseMs)
    }
  }
}
