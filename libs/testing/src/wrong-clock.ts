import type { RunningWorker } from '@backoffice/runtime/worker.ts'
import { failuresOf } from '@backoffice/runtime/worker-failures.ts'
import { expect, vi } from 'vitest'
import { eventually } from './eventually.ts'
import { whenDone } from './when-done.ts'

const MONTH_MS = 30 * 86_400_000

/**
 * Sets the clock of the host back by a month, and expects that a worker fails and removes nothing. Then sets it right,
 * and expects that the worker removes what is old.
 */
export async function expectKeptByWrongClock(
  startable: () => RunningWorker,
  isKept: () => Promise<boolean>,
): Promise<void> {
  const whileItRuns = async (what: string, isSo: (name: string) => Promise<boolean>) => {
    const worker = startable()
    await worker.start()
    await eventually(what, () => isSo(worker.name)).finally(worker.stop)
  }
  const failures = failuresOf(startable().name)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - MONTH_MS })
  whenDone(() => vi.useRealTimers())
  await whileItRuns('a failure is noted', async (name) => failuresOf(name) > failures)
  vi.useRealTimers()
  expect(await isKept()).toBe(true)
  await whileItRuns('it is removed', async () => !(await isKept()))
}
