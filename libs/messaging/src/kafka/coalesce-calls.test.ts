import { expect, test } from 'vitest'
import { coalesceCalls } from './coalesce-calls.ts'

test('calls that come while the work is under way make one more run', async () => {
  const runs: (() => void)[] = []
  const call = coalesceCalls(() => new Promise<void>((resolve) => void runs.push(resolve)))
  for (let count = 0; count < 5; count++) call()
  expect(runs).toHaveLength(1)
  runs[0]?.()
  await new Promise(setImmediate)
  expect(runs).toHaveLength(2)
  runs[1]?.()
  await new Promise(setImmediate)
  expect(runs).toHaveLength(2)
})

test('work that failed is done again when called again', async () => {
  let runs = 0
  const call = coalesceCalls(async () => {
    runs++
    throw new Error('away')
  })
  call()
  await new Promise(setImmediate)
  call()
  await new Promise(setImmediate)
  expect(runs).toBe(2)
})
