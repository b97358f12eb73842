import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test, vi } from 'vitest'
import { cutTo, jsonBytes } from './shown-bodies.ts'

test.each([
  ['letters', 'abcdefgh', 6, 'abcd'],
  ['letters of several bytes', 'äöüß', 6, 'äö'],
  ['control characters, which JSON writes in six bytes', '\u0000\u0001', 8, '\u0000'],
  ['a character of two code units', 'a😀b', 6, 'a'],
  ['nothing that fits', 'abc', 2, ''],
  ['no room at all', 'abc', 0, ''],
])('a body is cut by the bytes of its JSON: %s', (_, text, bytes, shown) => {
  expect(cutTo(text, bytes)).toEqual({ body: shown, truncated: true })
})

test('a body that fits is whole', () => {
  for (const text of ['', 'abc', '"ä😀\u0000']) {
    expect(cutTo(text, jsonBytes(text))).toEqual({ body: text, truncated: false })
  }
})

test('a long body that is cut is not written anew for each step', () => {
  const stringify = vi.spyOn(JSON, 'stringify')
  whenDone(() => stringify.mockRestore())
  expect(cutTo('a'.repeat(1_000_000), 700_000).body).toHaveLength(699_998)
  const written = stringify.mock.calls.reduce((sum, [text]) => sum + (text as string).length, 0)
  expect(written).toBeLessThan(4_000_000)
})
