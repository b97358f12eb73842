import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openSecret, SecretKeys, sealSecret } from './secret-box.ts'

const encoded = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const keys = SecretKeys.parse(`new:${encoded(1)},old:${encoded(2)}`)
const oldKeys = SecretKeys.parse(`old:${encoded(2)}`)
const secret = randomBytes(32)

test('a sealed secret opens for its owner, and what is stored does not show it', () => {
  const sealed = sealSecret(keys, secret, 'workspace/endpoint')
  expect(openSecret(keys, sealed, 'workspace/endpoint')).toEqual(secret)
  expect(sealed.sealed.includes(secret)).toBe(false)
})

test('the first key seals and every key opens, so keys can be changed', () => {
  expect(sealSecret(keys, secret, 'owner').keyId).toBe('new')
  expect(openSecret(keys, sealSecret(oldKeys, secret, 'owner'), 'owner')).toEqual(secret)
})

test('a secret moved to another owner does not open', () => {
  const sealed = sealSecret(keys, secret, 'workspace/endpoint')
  expect(() => openSecret(keys, sealed, 'workspace/other')).toThrow()
})

test('a changed byte is noticed', () => {
  const { keyId, sealed } = sealSecret(keys, secret, 'owner')
  sealed[20] = (sealed[20] ?? 0) ^ 1
  expect(() => openSecret(keys, { keyId, sealed }, 'owner')).toThrow()
})

test('a secret whose key is gone names the key', () => {
  expect(() => openSecret(oldKeys, sealSecret(keys, secret, 'owner'), 'owner')).toThrow('no key new')
})

test('sealing twice gives two different texts', () => {
  expect(sealSecret(keys, secret, 'owner').sealed).not.toEqual(sealSecret(keys, secret, 'owner').sealed)
})

describe('keys that are refused, without repeating them', () => {
  test.each([
    ['empty', ''],
    ['without an id', `:${encoded(1)}`],
    ['without a key', 'id'],
    ['too short', `id:${Buffer.alloc(16, 7).toString('base64')}`],
    ['an id twice', `id:${encoded(1)},id:${encoded(2)}`],
  ])('%s', (_, text) => {
    const result = SecretKeys.safeParse(text)
    expect(result.success).toBe(false)
    expect(JSON.stringify(result.error?.issues)).not.toContain(encoded(1))
  })
})
