import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { base62, CHECK_LENGTH, checkOf, SECRET_LENGTH } from '../authorization/base62.ts'

const SECRET_BYTES = 32

const KEY = /^sk_(?:live|test)_[0-9a-f]{32}_[0-9A-Za-z]{49}$/

/** The random part of a new key. */
export const newSecret = (): Buffer => randomBytes(SECRET_BYTES)

/** The random part of a key, from base64 of 32 bytes. */
export const KeySecret = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((secret) => secret.length === SECRET_BYTES, `must be base64 of ${SECRET_BYTES} bytes`)

/**
 * The API key of an id and a secret of 32 random bytes: `sk_live_` or `sk_test_`, the id without its dashes, `_`, the secret in base62
 * and the CRC32 of all that in base62 (OP-05). The same arguments give the same key. The id is readable, so that an operator can
 * revoke a key that was found somewhere.
 */
export function newKey(id: string, livemode: boolean, secret: Buffer): string {
  const digits = base62(BigInt(`0x${secret.toString('hex')}`), SECRET_LENGTH)
  const start = `sk_${livemode ? 'live' : 'test'}_${id.replaceAll('-', '')}_${digits}`
  return start + checkOf(start)
}

/** Whether a string has the form and the checksum of a key. Needs no look-up (OP-05). */
export const isWellFormed = (key: string): boolean =>
  KEY.test(key) && key.endsWith(checkOf(key.slice(0, -CHECK_LENGTH)))

/** The stored form of a key: its SHA-256 in hex. A fast hash is safe, since the key has 256 random bits. */
export const hashOf = (key: string): string => hash('sha256', key, 'hex')
