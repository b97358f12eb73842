import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { z } from 'zod'
import { CHECK_LENGTH, checkOf, crcCheck, SECRET_BYTES, textWithoutCheck } from '../secret-text.ts'

const KEY = /^(?:s[ks]|cs)_(?:live|test)_[0-9a-f]{32}_[0-9A-Za-z]{49}$/

/** The random part of a key, from base64 of 32 bytes. */
export const KeySecret = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((secret) => secret.length === SECRET_BYTES, `must be base64 of ${SECRET_BYTES} bytes`)

/** What the check at the end of a key says without a look-up: made by the platform, perhaps by others, or no key. */
type Verification = 'authentic' | 'unverified' | 'malformed'

/**
 * The format of API keys (OP-05), whose check is a truncated HMAC-SHA-256 of one of `checkKeys`: the first makes new
 * checks, all of them verify. An earlier key ends with its CRC32, which anybody can compute. Without `checkKeys` new
 * keys have a CRC32 as well, and every text of the right form is `unverified`: it may be a key of a replica that has
 * check keys already.
 */
export function keyFormat(checkKeys: SecretKeys | undefined) {
  const keys = [...(checkKeys?.values() ?? [])].map(createSecretKey)
  const checks = [...keys.map((key) => (start: string) => hmacCheck(key, start)), crcCheck]
  /** Whether the platform made the text, at a lower cost than `verify`. */
  const isAuthentic = (text: string): boolean =>
    KEY.test(text) && keys.some((key) => isSame(text.slice(-CHECK_LENGTH), hmacCheck(key, startOf(text))))
  return {
    /**
     * The texts that the key of an id and a secret of 32 random bytes can have: `sk_live_` or `sk_test_`, the id
     * without its dashes, `_`, the secret in base62, and a check of all that. The first is the text of a new key. The
     * others are those of replicas with another first check key, and of earlier keys. The id is readable, so that an
     * operator can revoke a key that was found somewhere. The token of a session of support begins with `ss_` instead,
     * that of a session of the console with `cs_`.
     */
    textsOf(id: string, livemode: boolean, secret: Buffer, kind: 'sk' | 'ss' | 'cs' = 'sk'): [string, ...string[]] {
      const start = textWithoutCheck(`${kind}_${livemode ? 'live' : 'test'}`, id, secret)
      return checks.map((check) => start + check(start)) as [string, ...string[]]
    },
    /** Verifies the form and the check of a text. */
    verify(text: string): Verification {
      if (!KEY.test(text)) return 'malformed'
      if (isAuthentic(text)) return 'authentic'
      return keys.length === 0 || text.endsWith(crcCheck(startOf(text))) ? 'unverified' : 'malformed'
    },
    isAuthentic,
  }
}
export type KeyFormat = ReturnType<typeof keyFormat>

const startOf = (text: string): string => text.slice(0, -CHECK_LENGTH)

/** Six bytes of the HMAC as six base62 digits: one of 57 billion. */
const hmacCheck = (key: KeyObject, start: string): string =>
  checkOf(createHmac('sha256', key).update(start).digest().readUIntBE(0, 6))

/** Compares in constant time: the time must not tell how much of a guessed check is right. */
const isSame = (check: string, expected: string): boolean =>
  timingSafeEqual(Buffer.from(check, 'latin1'), Buffer.from(expected, 'latin1'))
