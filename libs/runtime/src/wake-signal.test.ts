import { expect, test } from 'vitest'
import { wakeSignal } from './wake-signal.ts'

const FOREVER_MS = 2 ** 30

test('a wake-up ends the wait', async () => {
  const { wake, wait } = wakeSignal()
  const waited = wait(FOREVER_MS)
  wake()
  await expect(waited).resolves.toBeUndefined()
})

test('a wake-up while nobody waits ends the next wait, and only that one', async () => {
  const { wake, wait } = wakeSignal()
  wake()
  wake()
  await wait(FOREVER_MS)
  const second = wait(FOREVER_MS).then(() => 'ended')
  expect(await Promise.race([second, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')
  wake()
  expect(await second).toBe('ended')
})
