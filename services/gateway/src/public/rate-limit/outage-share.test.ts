import { expect, test } from 'vitest'
import { correctionOf, type OutageShare, shareOf, startShare } from './outage-share.ts'
import { takeToken } from './token-bucket.ts'

const LIMIT = { perSecond: 10, burst: 100 }
const HALF = shareOf(LIMIT, 2)

/** The share after so many calls at that time. */
function after(share: OutageShare, count: number, now: number): OutageShare {
  let { bucket } = share
  for (let taken = 0; taken < count; taken++) bucket = takeToken(bucket, HALF, now).bucket
  return { ...share, bucket }
}

test('a share is a part of the rate and of the burst, and lets a call through in any case', () => {
  expect(HALF).toEqual({ perSecond: 5, burst: 50 })
  expect(shareOf({ perSecond: 1, burst: 2 }, 5)).toEqual({ perSecond: 0.2, burst: 1 })
})

test('a share starts at its part of what the server had left, and at the leased tokens', () => {
  expect(startShare(HALF, 0.5, 3, 0).bucket.tokens).toBe(28)
  expect(startShare(HALF, 1, 3, 0).bucket.tokens).toBe(50)
})

test('the server learns of the calls that have not grown back, and of leased tokens that are left', () => {
  const used = after(startShare(HALF, 1, 0, 0), 20, 0)
  expect(correctionOf(used, HALF, 0)).toBe(-20)
  expect(correctionOf(used, HALF, 1000)).toBe(-15)
  expect(correctionOf(used, HALF, 60_000)).toBe(0)
  expect(correctionOf(after(startShare(HALF, 0.5, 3, 0), 1, 0), HALF, 0)).toBe(2)
})
