import { expect, it } from 'vitest'
import { ApiFailure, failureOf, leavesOldBehind, sentTextOf } from './failure.ts'

it.each([404, 409, 412, 500, 503, 504])('lets a page read again what a %i leaves behind', (status) => {
  expect(leavesOldBehind(new ApiFailure(status, 'code', 'message'))).toBe(true)
})

it('lets a page read again when there is no answer, and not when what was sent is refused', () => {
  expect(leavesOldBehind(new TypeError('Failed to fetch'))).toBe(true)
  for (const error of [new ApiFailure(422, 'code', 'message'), new Error('Choose what the key may do.')])
    expect(leavesOldBehind(error)).toBe(false)
})

it('says of what was sent and not answered how to go on, with the id that support asks for', () => {
  const failed = new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'x-request-id': 'of-the-gateway' } })
  expect(sentTextOf(failureOf(failed, undefined))).toBe(
    'The server answered 502. Try again; it is done once. Request of-the-gateway',
  )
  expect(sentTextOf(new ApiFailure(422, 'code', 'name: is too long', 'id'))).toBe('name: is too long')
})
