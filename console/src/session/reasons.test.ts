import { beforeEach, expect, it } from 'vitest'
import { askForReasons, supportReason, withOneReason } from './reasons.ts'

const request = new Request('https://shop.example/deliveries', { method: 'POST' })
let asked = 0

beforeEach(() => {
  asked = 0
  askForReasons(async () => {
    asked += 1
    return `reason ${asked}`
  })
  return () => askForReasons(undefined)
})

it('asks once for an act of several requests, and again for the next act', async () => {
  const act = () => withOneReason(async () => [await supportReason(request), await supportReason(request)])
  expect(await act()).toEqual(['reason 1', 'reason 1'])
  expect(await act()).toEqual(['reason 2', 'reason 2'])
})

it('asks for each request while acts run side by side', async () => {
  const other = Promise.withResolvers<void>()
  const running = withOneReason(() => other.promise)
  const reasons = await withOneReason(async () => [await supportReason(request), await supportReason(request)])
  expect(reasons).toEqual(['reason 1', 'reason 2'])
  other.resolve()
  await running
})

it('asks for a request of no act, and not at all in other sessions', async () => {
  expect(await supportReason(request)).toBe('reason 1')
  askForReasons(undefined)
  expect(await supportReason(request)).toBeUndefined()
})
