import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { describe, expect, test } from 'vitest'
import { hashOf, newSecret } from '../secret-text.ts'
import { type KeyFormat, keyFormat } from './key-format.ts'

const ID = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'
const SECRET = newSecret()
const formatOf = (...bytes: number[]) =>
  keyFormat(SecretKeys.parse(bytes.map((byte) => `${byte}:${Buffer.alloc(32, byte).toString('base64')}`).join(',')))
const newKey = (format: KeyFormat, livemode = true, secret = SECRET) => format.textsOf(ID, livemode, secret)[0]

const [first, second, none] = [formatOf(1), formatOf(2), keyFormat(undefined)]
const KEY = newKey(first)
/** A key from before there were check keys. */
const EARLIER = newKey(none)

test('a key shows its mode and its id, and is 90 characters long', () => {
  expect(KEY).toMatch(/^sk_live_0198c2f1a3b47c5d8e9f0123456789ab_[0-9A-Za-z]{49}$/)
  expect(newKey(first, false)).toMatch(/^sk_test_0198c2f1a3b47c5d8e9f0123456789ab_[0-9A-Za-z]{49}$/)
})

test('id, mode and secret make the key: the same give the same, another secret another', () => {
  expect(newKey(first, true, Buffer.from(SECRET))).toBe(KEY)
  expect(newKey(first, true, newSecret())).not.toBe(KEY)
})

test('every new key is authentic', () => {
  for (let count = 0; count < 500; count++) {
    expect(first.verify(newKey(first, count % 2 === 0, newSecret()))).toBe('authentic')
  }
})

test('a key with any one character changed is malformed', () => {
  for (const key of [KEY, EARLIER]) {
    for (let index = 0; index < key.length; index++) {
      const other = key[index] === 'a' ? 'b' : 'a'
      expect(first.verify(key.slice(0, index) + other + key.slice(index + 1))).toBe('malformed')
    }
  }
})

test.each(['', 'sk_live_', 'sk_live_x', `${KEY} `, `${KEY}0`, KEY.slice(0, -1), KEY.replace('live', 'test')])(
  'is malformed: %j',
  (key) => {
    expect(first.verify(key)).toBe('malformed')
    expect(none.verify(key)).toBe(key.length === 90 ? 'unverified' : 'malformed')
  },
)

test('a check is the HMAC-SHA-256 of what is before it, its first six bytes in six base62 digits', () => {
  const [key] = formatOf(1).textsOf(ID, true, Buffer.alloc(32, 9))
  expect(key).toBe('sk_live_0198c2f1a3b47c5d8e9f0123456789ab_28pwpFvXuOCuClQJSgvJUKf8mA3ApwedogOvpU3VfJJgMsPoa')
})

describe('check keys', () => {
  test('a check that another check key made is malformed', () => {
    expect(second.verify(KEY)).toBe('malformed')
  })

  test('the check of an earlier key says nothing about who made it', () => {
    expect(EARLIER).toMatch(/^sk_live_0198c2f1a3b47c5d8e9f0123456789ab_[0-9A-Za-z]{49}$/)
    expect(first.verify(EARLIER)).toBe('unverified')
  })

  test('in each step of a rotation the keys of the step before and after are authentic', () => {
    const steps = [formatOf(1), formatOf(1, 2), formatOf(2, 1)]
    for (const [index, step] of steps.entries()) {
      for (const other of steps.slice(Math.max(0, index - 1), index + 2)) {
        expect(other.verify(newKey(step))).toBe('authentic')
      }
    }
  })

  test('a replica without check keys takes a new key for unverified', () => {
    expect(none.verify(KEY)).toBe('unverified')
  })

  test('the texts of a key are the same for all replicas, each of which begins with its own', () => {
    const [one, other] = [formatOf(1, 2).textsOf(ID, true, SECRET), formatOf(2, 1).textsOf(ID, true, SECRET)]
    expect(one).toEqual([KEY, newKey(second), EARLIER])
    expect(other).toEqual([newKey(second), KEY, EARLIER])
  })
})

test('the hash is SHA-256 in hex', () => {
  expect(hashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
