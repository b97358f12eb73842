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

test('spaces and line ends around an entry are no part of it', () => {
  expect([...SecretKeys.parse(` new:${encoded(1)} ,\n old:${encoded(2)}\n`).keys()]).toEqual(['new', 'old'])
})

describe('keys that are refused, with the reason and without repeating them', () => {
  const key = randomBytes(32).toString('base64')
  const [colon, base64] = ['is not a key id and a key with one colon between', 'is not base64 as RFC 4648 writes it']
  test.each([
    ['empty', '', `entry 1 ${colon}`],
    ['without an id', `:${key}`, `entry 1 ${colon}`],
    ['without a key', 'id', `entry 1 ${colon}`],
    ['a key alone', key, `entry 1 ${colon}`],
    ['with something after the key', `id:${key}:more`, `entry 1 ${colon}`],
    ['a comma at the end', `id:${key},`, `entry 2 ${colon}`],
    ['an empty key', 'id:', 'entry 1 is a key of 0 bytes'],
    ['too short', `id:${Buffer.alloc(16, 7).toString('base64')}`, 'entry 1 is a key of 16 bytes'],
    ['too long', `id:${Buffer.alloc(33, 7).toString('base64')}`, 'entry 1 is a key of 33 bytes'],
    ['an id twice', `id:${encoded(1)},id:${key}`, 'entry 2 repeats a key id'],
    ['without its padding', `id:${key.replace('=', '')}`, `entry 1 ${base64}`],
    ['with too much padding', `id:${key}=`, `entry 1 ${base64}`],
    ['with a character too many', `id:${key.slice(0, 20)}!${key.slice(20)}`, `entry 1 ${base64}`],
    ['with a space inside', `id:${key.slice(0, 20)} ${key.slice(20)}`, `entry 1 ${base64}`],
    ['with a line end inside', `id:${key.slice(0, 20)}\n${key.slice(20)}`, `entry 1 ${base64}`],
    ['followed by junk', `id:${key}junk`, `entry 1 ${base64}`],
    ['in base64url', `id:${Buffer.alloc(32, 0xfb).toString('base64url')}=`, `entry 1 ${base64}`],
    ['with bits beyond its end', `id:${Buffer.alloc(32).toString('base64').replace('A=', 'B=')}`, `entry 1 ${base64}`],
    ['in hex', `id:${Buffer.alloc(32, 0xfb).toString('hex')}`, 'entry 1 is a key of 48 bytes'],
    ['the second of two', `id:${encoded(1)},other:${key.slice(1)}`, 'entry 2 '],
  ])('%s', (_, text, reason) => {
    const issues = SecretKeys.safeParse(text).error?.issues ?? []
    expect(issues.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^must be <key id>:<base64 of 32 bytes>, comma-separated, each key id once: entry \d /),
    ])
    expect(issues[0]?.message).toContain(reason)
    const parts = text.split(/[,:\s!]/).filter((part) => part.length > 8)
    for (const part of parts) expect(JSON.stringify(issues)).not.toContain(part)
  })
})
