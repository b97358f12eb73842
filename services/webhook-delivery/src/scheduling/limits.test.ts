import { expect, test } from 'vitest'
import { REPEAT_SLOTS, repeatSlotsAfter } from './limits.ts'

const after = (slots: number, ...writes: { ms: number; attempts: number }[]) =>
  writes.reduce((before, { ms, attempts }) => repeatSlotsAfter(before, ms, attempts), slots)
const times = (count: number, ms: number, attempts = 10) => Array.from({ length: count }, () => ({ ms, attempts }))

test('retries get one more slot with each quick write, up to a quarter of all', () => {
  expect(after(REPEAT_SLOTS.least, ...times(10, 5))).toBe(REPEAT_SLOTS.least + 10)
  expect(after(REPEAT_SLOTS.least, ...times(10_000, 5))).toBe(REPEAT_SLOTS.most)
})

test('retries make way when a write takes long, and never come to a standstill', () => {
  expect(after(100, { ms: 50, attempts: 10 })).toBe(80)
  expect(after(100, ...times(100, 50))).toBe(REPEAT_SLOTS.least)
})

test('a write of many attempts may take longer', () => {
  expect(after(100, { ms: 50, attempts: 500 })).toBe(101)
})
