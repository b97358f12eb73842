import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The random part of a key or token, in bytes. */
export const SECRET_BYTES = 32
/** Base62 digits that hold a secret. */
const SECRET_LENGTH = 43
/** Base62 digits of the check at the end of a key or token. */
export const CHECK_LENGTH = 6

/** The CRC32 of a text in base62: the end of operator tokens and earlier keys, which tells a mistyped one (OP-05). */
export const crcCheck = (text: string): string => checkOf(crc32(text))

/** The random part of a new key or token. */
export const newSecret = (): Buffer => randomBytes(SECRET_BYTES)

/** A key or token without its check: the prefix, `_`, the id without its dashes, `_`, and the secret in base62. */
export function textWithoutCheck(prefix: string, id: string, secret: Buffer): string {
  let digits = ''
  for (let rest = BigInt(`0x${secret.toString('hex')}`); rest > 0n; rest /= 62n) {
    digits = DIGITS[Number(rest % 62n)] + digits
  }
  return `${prefix}_${id.replaceAll('-', '')}_${digits.padStart(SECRET_LENGTH, '0')}`
}

/** A check of six base62 digits, of an integer below 2^53. Requests with unknown keys need it, and BigInt is slow. */
export function checkOf(value: number): string {
  let check = ''
  for (let rest = value; check.length < CHECK_LENGTH; rest = Math.floor(rest / 62)) check = DIGITS[rest % 62] + check
  return check
}

/** The stored form of a key or token: its SHA-256 in hex. A fast hash is safe for 256 random bits. */
export const hashOf = (text: string): string => hash('sha256', text, 'hex')
