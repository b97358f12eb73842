import { expect, test } from 'vitest'
import { alarm } from './alarm.ts'

const FOREVER_MS = 2 ** 30

test('a ring ends the wait', async () => {
  const { ring, wait } = alarm()
  const waited = wait(FOREVER_MS)
  ring()
  await expect(waited).resolves.toBeUndefined()
})

test('a ring while nobody waits ends the next wait, and only that one', async () => {
  const { ring, wait } = alarm()
  ring()
  ring()
  await wait(FOREVER_MS)
  const second = wait(FOREVER_MS).then(() => 'ended')
  expect(await Promise.race([second, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')
  ring()
  expect(await second).toBe('ended')
})
