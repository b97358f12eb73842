import { expect, it } from 'vitest'
import { traceparentFrom } from './trace-context.ts'

const TRACE = 'a0892f3577b34da6a3ce929d0e0e4736'
const SPAN = 'f03067aa0ba902b7'
const NEW = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/

it.each([`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`])('keeps the caller’s trace: %s', (header) => {
  expect(traceparentFrom(header)).toBe(header)
})

it.each([
  undefined,
  '',
  'trace',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01\n`,
  [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
])('begins a trace where there is none that is well-formed: %j', (header) => {
  expect(traceparentFrom(header)).toMatch(NEW)
})

it('begins another trace each time', () => {
  expect(traceparentFrom(undefined)).not.toBe(traceparentFrom(undefined))
})
