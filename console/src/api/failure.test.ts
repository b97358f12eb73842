import { expect, it } from 'vitest'
import { ApiFailure, leavesOldBehind } from './failure.ts'

it.each([404, 409, 412, 500, 503, 504])('lets a page read again what a %i leaves behind', (status) => {
  expect(leavesOldBehind(new ApiFailure(status, 'code', 'message'))).toBe(true)
})

it('lets a page read again when there is no answer, and not when what was sent is refused', () => {
  expect(leavesOldBehind(new TypeError('Failed to fetch'))).toBe(true)
  for (const error of [new ApiFailure(422, 'code', 'message'), new Error('Choose what the key may do.')])
    expect(leavesOldBehind(error)).toBe(false)
})
