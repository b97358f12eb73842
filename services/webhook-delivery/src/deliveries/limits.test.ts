import { expect, test } from 'vitest'
import { LATER_SLOTS, laterSlotsAfter } from './limits.ts'

const after = (slots: number, ...writes: number[]) => writes.reduce(laterSlotsAfter, slots)
const times = (count: number, ms: number) => Array.from({ length: count }, () => ms)

test('retries get one more slot with each quick write, up to a quarter of all', () => {
  expect(after(LATER_SLOTS.least, ...times(10, 5))).toBe(LATER_SLOTS.least + 10)
  expect(after(LATER_SLOTS.least, ...times(10_000, 5))).toBe(LATER_SLOTS.most)
})

test('retries make way when a write takes long, and never come to a standstill', () => {
  expect(after(100, 50)).toBe(80)
  expect(after(100, ...times(100, 50))).toBe(LATER_SLOTS.least)
})
