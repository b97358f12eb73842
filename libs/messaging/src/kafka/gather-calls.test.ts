import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { gatherCalls } from './gather-calls.ts'

const LONG_MS = 60_000

test('calls that come close together share one run', async () => {
  let runs = 0
  const calls = gatherCalls(async () => runs++, 1, LONG_MS)
  for (let count = 0; count < 5; count++) calls.soon()
  expect(runs).toBe(0)
  await eventually('a run', () => runs > 0)
  calls.soon()
  await eventually('another run', () => runs > 1)
  expect(runs).toBe(2)
})

test('a run that fails is repeated until one succeeds', async () => {
  let runs = 0
  const calls = gatherCalls(
    async () => {
      runs++
      if (runs < 3) throw new Error('away')
    },
    1,
    1,
  )
  calls.soon()
  await eventually('three runs', () => runs === 3)
  await pause(20)
  expect(runs).toBe(3)
})

test('what is to happen now happens at once, after the run that is under way, and no second time', async () => {
  const events: string[] = []
  const ends: (() => void)[] = []
  const calls = gatherCalls(
    () => {
      events.push('run')
      return new Promise<void>((resolve) => void ends.push(resolve))
    },
    LONG_MS,
    LONG_MS,
  )
  calls.soon()
  const first = calls.now()
  const second = calls.now().then(() => events.push('over'))
  await new Promise(setImmediate)
  expect(events).toEqual(['run'])
  ends[0]?.()
  await first
  await eventually('the second run', () => ends.length === 2)
  ends[1]?.()
  await second
  expect(events).toEqual(['run', 'run', 'over'])
})

test('what fails when it is to happen now resolves, too', async () => {
  const calls = gatherCalls(() => Promise.reject(new Error('away')), 1, LONG_MS)
  await expect(calls.now()).resolves.toBeUndefined()
})
