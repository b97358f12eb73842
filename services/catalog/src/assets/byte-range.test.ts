import { expect, it } from 'vitest'
import { byteRange } from './byte-range.ts'

it.each([
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=2-5', { start: 2, end: 5 }],
  ['bytes=2-', { start: 2, end: 9 }],
  ['bytes=2-99', { start: 2, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', { start: 0, end: 9 }],
  ['Bytes=9-9', { start: 9, end: 9 }],
])('%s of 10 bytes is that part', (header, range) => {
  expect(byteRange(header, 10)).toEqual(range)
})

it.each(['bytes=10-', 'bytes=10-12', 'bytes=-0', 'bytes=99999999999999999999-'])('%s of 10 bytes is none', (header) => {
  expect(byteRange(header, 10)).toBe('unsatisfiable')
})

it.each([undefined, '', 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=1-2,4-5', 'items=0-1', 'bytes=a-b', 'bytes=1.5-2'])(
  '%s is taken for the whole file',
  (header) => {
    expect(byteRange(header, 10)).toBeUndefined()
  },
)
