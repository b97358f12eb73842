import { expect, test } from 'vitest'
import { keyFormat } from '../keys/key-format.ts'
import { newSecret } from '../secret-text.ts'
import { isWellFormedToken, newToken } from './token-format.ts'

const ID = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'

test('a token shows its id, differs from every other, and is well-formed', () => {
  const tokens = Array.from({ length: 200 }, () => newToken(ID))
  expect(tokens[0]).toMatch(/^op_0198c2f1a3b47c5d8e9f0123456789ab_[0-9A-Za-z]{49}$/)
  expect(new Set(tokens).size).toBe(200)
  expect(tokens.every(isWellFormedToken)).toBe(true)
})

test('a token with any one character changed is malformed', () => {
  const token = newToken(ID)
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'a' ? 'b' : 'a'
    expect(isWellFormedToken(token.slice(0, index) + other + token.slice(index + 1))).toBe(false)
  }
})

test.each([
  '',
  'op_',
  `${newToken(ID)} `,
  `${newToken(ID)}0`,
  newToken(ID).slice(0, -1),
  keyFormat(undefined).textsOf(ID, true, newSecret())[0],
])('is malformed: %j', (token) => {
  expect(isWellFormedToken(token)).toBe(false)
})
