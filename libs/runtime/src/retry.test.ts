import { expect, test } from 'vitest'
import { retry } from './retry.ts'

/** Work that fails so many times, and the errors and numbers of failures that it was asked about. */
function failing(times: number) {
  const asked: [string, number][] = []
  let runs = 0
  const work = async () => {
    runs++
    if (runs <= times) throw new Error(`failure ${runs}`)
    return `run ${runs}`
  }
  return { work, asked }
}

test('work runs again after each failure that has a pause, and its result is returned', async () => {
  const { work, asked } = failing(2)
  const result = await retry(work, (error, failures) => {
    asked.push([(error as Error).message, failures])
    return 0
  })
  expect([result, asked]).toEqual([
    'run 3',
    [
      ['failure 1', 1],
      ['failure 2', 2],
    ],
  ])
})

test('a failure without a pause is thrown, and the work does not run again', async () => {
  const { work } = failing(3)
  await expect(retry(work, (_, failures) => (failures < 2 ? 0 : undefined))).rejects.toThrow('failure 2')
  expect(await work().catch(({ message }) => message)).toBe('failure 3')
})
