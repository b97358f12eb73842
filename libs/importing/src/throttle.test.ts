import { restsAreOver } from '@backoffice/runtime/give-way.ts'
import { noteRequest } from '@backoffice/runtime/recent-requests.ts'
import { expect, it, onTestFinished, vi } from 'vitest'
import { importThrottle, requestThrottle, throttled } from './throttle.ts'

it('a request writes 100 rows at once, an import all of them, and 50 while requests come', () => {
  // Requests of tests before are not recent any more.
  let now = performance.now() + 60_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const atOnce = () => [requestThrottle(), importThrottle()].map(({ rowsAtOnce }) => [rowsAtOnce(500), rowsAtOnce(3)])
  expect(atOnce()).toEqual([
    [100, 3],
    [500, 3],
  ])
  now -= 60_000
  noteRequest()
  expect(atOnce()).toEqual([
    [100, 3],
    [50, 3],
  ])
  clock.mockRestore()
})

it('a piece of work that fails ends as well, with its error: the next one rests before it begins', async () => {
  // The clock stands but for the work and the rests: a busy machine has no part in them.
  const startedAt = performance.now()
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await vi.advanceTimersByTimeAsync(startedAt)
  noteRequest()
  const restsOfTestsBefore = restsAreOver()
  await vi.advanceTimersByTimeAsync(2000)
  await restsOfTestsBefore

  noteRequest()
  const failing = throttled(async () => {
    await vi.advanceTimersByTimeAsync(20)
    throw new Error('refused')
  })
  await expect(failing).rejects.toThrow('refused')
  const next = vi.fn(async () => undefined)
  const done = throttled(next)
  await vi.advanceTimersByTimeAsync(79)
  expect(next).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(2)
  await done
  expect(next).toHaveBeenCalled()
})
