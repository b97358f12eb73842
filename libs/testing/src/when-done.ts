import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, onTestFinished, TestRunner } from 'vitest'

const isKept = new AsyncLocalStorage<boolean>()

/**
 * Calls `stop` when the current test is over; outside of a test, after the last test of the file. For what `kept`
 * starts it does nothing.
 */
export function whenDone(stop: () => unknown): void {
  if (isKept.getStore()) return
  // Vitest ignores `afterAll` inside a test.
  const register = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished
  register(async () => void (await stop()))
}

/** Starts something that ends with the worker, unless the caller stops it before. */
export const kept = <Started>(start: () => Started): Started => isKept.run(true, start)

/** Starts something once for all files of a worker, which share their modules. It ends with the worker. */
export function keptByWorker<Started>(start: () => Promise<Started>): () => Promise<Started> {
  let started: Promise<Started> | undefined
  return () => {
    started ??= kept(start).catch((error: unknown) => {
      started = undefined
      throw error
    })
    return started
  }
}
