import { expect, test } from 'vitest'
import { KeyTokens } from './key-tokens.ts'

test('no more calls are left than the burst, although tokens are leased ahead while the bucket fills (OP-29)', () => {
  const limit = { perSecond: 100, burst: 10 }
  const tokens = new KeyTokens()
  tokens.take({ granted: 1, prefetched: 4, left: 5 }, limit, 0)
  expect(tokens.decide(limit, 0)).toEqual({ tokens: 9 })
  expect(tokens.decide(limit, 50)).toEqual({ tokens: 10 })
})
