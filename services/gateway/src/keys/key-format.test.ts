import { expect, test } from 'vitest'
import { hashOf, isWellFormed, newKey, newSecret } from './key-format.ts'

const ID = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'
const SECRET = newSecret()

test('a key shows its mode and its id, and is 90 characters long', () => {
  expect(newKey(ID, true, SECRET)).toMatch(/^sk_live_0198c2f1a3b47c5d8e9f0123456789ab_[0-9A-Za-z]{49}$/)
  expect(newKey(ID, false, SECRET)).toMatch(/^sk_test_0198c2f1a3b47c5d8e9f0123456789ab_[0-9A-Za-z]{49}$/)
})

test('id, mode and secret make the key: the same give the same, another secret another', () => {
  expect(newKey(ID, true, SECRET)).toBe(newKey(ID, true, Buffer.from(SECRET)))
  expect(newKey(ID, true, SECRET)).not.toBe(newKey(ID, true, newSecret()))
})

test('every new key is well-formed', () => {
  for (let count = 0; count < 500; count++) expect(isWellFormed(newKey(ID, count % 2 === 0, newSecret()))).toBe(true)
})

test('a key with any one character changed is malformed', () => {
  const key = newKey(ID, true, SECRET)
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === 'a' ? 'b' : 'a'
    expect(isWellFormed(key.slice(0, index) + other + key.slice(index + 1))).toBe(false)
  }
})

test.each([
  '',
  'sk_live_',
  'sk_live_x',
  `${newKey(ID, true, SECRET)} `,
  `${newKey(ID, true, SECRET)}0`,
  newKey(ID, true, SECRET).slice(0, -1),
])('is malformed: %j', (key) => {
  expect(isWellFormed(key)).toBe(false)
})

test('a live key turned into a test key is malformed', () => {
  expect(isWellFormed(newKey(ID, true, SECRET).replace('live', 'test'))).toBe(false)
})

test('the hash is SHA-256 in hex', () => {
  expect(hashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
