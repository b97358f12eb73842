import { afterAll, onTestFinished, TestRunner } from 'vitest'

/** Calls `stop` when the current test is over; outside of a test, after the last test of the file. */
export function whenDone(stop: () => unknown): void {
  // Vitest ignores `afterAll` inside a test.
  const register = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished
  register(async () => void (await stop()))
}
