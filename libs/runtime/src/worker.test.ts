import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import { worker } from './worker.ts'

const logger = createLogger('test', 'silent')

test('goes on after a failure, resting in between', async () => {
  const { promise: third, resolve } = Promise.withResolvers<void>()
  let times = 0
  const part = worker({
    name: 'counting',
    everyMs: 1,
    logger,
    work: async () => {
      times++
      if (times === 3) resolve()
      throw new Error('no luck')
    },
  })
  await part.start?.()
  await third
  await part.stop?.()
  expect(times).toBeGreaterThanOrEqual(3)
})

test('rests as long as the work says', async () => {
  let times = 0
  const part = worker({
    name: 'resting',
    everyMs: 1,
    logger,
    work: async () => {
      times++
      return 60_000
    },
  })
  await part.start?.()
  await pause(20)
  await part.stop?.()
  expect(times).toBe(1)
})

test('stopping waits for the work under way, which sees that it is to end', async () => {
  let isDone = false
  const part = worker({
    name: 'slow',
    everyMs: 1,
    logger,
    work: async (stopping) => {
      while (!stopping.aborted) await pause(1)
      isDone = true
    },
  })
  await part.start?.()
  await part.stop?.()
  expect(isDone).toBe(true)
})
