import { setTimeout as pause } from 'node:timers/promises'
import { noteRequest } from '@backoffice/runtime/recent-requests.ts'
import { expect, it, vi } from 'vitest'
import { importThrottle, requestThrottle, throttled } from './throttle.ts'

it('a request writes 100 rows at once, an import all of them, and 50 while requests come', () => {
  // Requests of tests before are not recent any more.
  const now = performance.now() + 60_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const atOnce = () => [requestThrottle(), importThrottle()].map(({ rowsAtOnce }) => [rowsAtOnce(500), rowsAtOnce(3)])
  expect(atOnce()).toEqual([
    [100, 3],
    [500, 3],
  ])
  clock.mockRestore()
  noteRequest()
  expect(atOnce()).toEqual([
    [100, 3],
    [50, 3],
  ])
})

it('a piece of work that fails ends as well, with its error: the next one rests before it begins', async () => {
  noteRequest()
  const failing = throttled(async () => {
    await pause(20)
    throw new Error('refused')
  })
  await expect(failing).rejects.toThrow('refused')
  const pauses = vi.spyOn(globalThis, 'setTimeout')
  await throttled(async () => undefined)
  expect(pauses).toHaveBeenCalled()
})
