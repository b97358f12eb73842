import { hash, randomBytes } from 'node:crypto'
import { base62, CHECK_LENGTH, checkOf, SECRET_LENGTH } from '../authorization/base62.ts'

const SECRET_BYTES = 32

const KEY = /^sk_(?:live|test)_[0-9a-f]{32}_[0-9A-Za-z]{49}$/

/**
 * A new API key: `sk_live_` or `sk_test_`, the key's id without its dashes, `_`, 32 random bytes in base62 and the CRC32
 * of all that in base62 (OP-05). The id is readable, so that an operator can revoke a key that was found somewhere.
 */
export function newKey(id: string, livemode: boolean): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  const start = `sk_${livemode ? 'live' : 'test'}_${id.replaceAll('-', '')}_${base62(secret, SECRET_LENGTH)}`
  return start + checkOf(start)
}

/** Whether a string has the form and the checksum of a key. Needs no look-up (OP-05). */
export const isWellFormed = (key: string): boolean =>
  KEY.test(key) && key.endsWith(checkOf(key.slice(0, -CHECK_LENGTH)))

/** The stored form of a key: its SHA-256 in hex. A fast hash is safe, since the key has 256 random bits. */
export const hashOf = (key: string): string => hash('sha256', key, 'hex')
