import { expect, test } from 'vitest'
import { presentedKey, presentedText } from './bearer-token.ts'

test('the key that is refused early is the one that would be looked up', () => {
  for (const headers of [
    { authorization: 'Bearer one' },
    { 'x-api-key': 'one' },
    { authorization: 'Bearer one', 'x-api-key': 'one' },
  ]) {
    expect([presentedKey(headers), presentedText(headers)]).toEqual(['one', 'one'])
  }
  const different = { authorization: 'Bearer one', 'x-api-key': 'other' }
  expect(presentedText(different)).toBe('one')
  expect(() => presentedKey(different)).toThrow('carry different keys')
  const otherScheme = { authorization: 'Basic one', 'x-api-key': 'other' }
  expect(() => presentedKey(otherScheme)).toThrow('must be Bearer')
})
