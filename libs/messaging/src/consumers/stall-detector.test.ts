import { expect, test } from 'vitest'
import { stallDetector } from './watchdog.ts'

const at = (partition: string, lag: number, mark: number) => ({ partition, lag, mark })

test('lag without movement over as many observations as the limit is a stall', () => {
  const stalledOf = stallDetector(2)
  expect(stalledOf([at('a', 5, 1)])).toEqual([])
  expect(stalledOf([at('a', 6, 1)])).toEqual([])
  expect(stalledOf([at('a', 7, 1)])).toEqual(['a'])
})

test('while others wait for an error each has to wait its turn: a stall takes longer', () => {
  const stalledOf = stallDetector(2)
  expect([1, 2, 3, 4].map(() => stalledOf([at('a', 5, 1)], 1))).toEqual([[], [], [], []])
  expect(stalledOf([at('a', 5, 1)], 1)).toEqual(['a'])
})

test('any movement starts the count again', () => {
  const stalledOf = stallDetector(2)
  stalledOf([at('a', 5, 1)])
  stalledOf([at('a', 5, 1)])
  expect(stalledOf([at('a', 5, 2)])).toEqual([])
  expect(stalledOf([at('a', 5, 2)])).toEqual([])
  expect(stalledOf([at('a', 5, 2)])).toEqual(['a'])
})

test('observations of a partition that waits for the batch of another do not count', () => {
  const stalledOf = stallDetector(2)
  const heldUp = { ...at('a', 5, 1), isHeldUp: true }
  expect([at('a', 5, 1), at('a', 5, 1), heldUp, heldUp, heldUp].map((one) => stalledOf([one]))).toEqual(
    Array(5).fill([]),
  )
  expect(stalledOf([at('a', 5, 1)])).toEqual(['a'])
})

test('no lag is no stall, however long nothing moves', () => {
  const stalledOf = stallDetector(1)
  expect([1, 2, 3].map(() => stalledOf([at('a', 0, 1)]))).toEqual([[], [], []])
})

test('movement elsewhere does not hide a partition that is stuck', () => {
  const stalledOf = stallDetector(1)
  stalledOf([at('a', 5, 1), at('b', 5, 1)])
  expect(stalledOf([at('a', 5, 1), at('b', 5, 2)])).toEqual(['a'])
})

test('a partition that was taken away and comes back starts anew', () => {
  const stalledOf = stallDetector(1)
  stalledOf([at('a', 5, 1)])
  stalledOf([])
  expect(stalledOf([at('a', 5, 1)])).toEqual([])
})
