import { afterAll, expect, onTestFinished } from 'vitest'

/**
 * Has `stop` called when the test that this is called in is over; called outside of tests, when the file's last one is.
 * `afterAll` inside a test is passed over without a word.
 */
export function whenDone(stop: () => unknown): void {
  if (expect.getState().currentTestName === undefined) afterAll(async () => void (await stop()))
  else onTestFinished(async () => void (await stop()))
}
