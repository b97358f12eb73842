import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Base62 digits that hold 256 bits. */
export const SECRET_LENGTH = 43
/** Base62 digits of the check at the end of a key or token. */
export const CHECK_LENGTH = 6

/** The CRC32 of a text in base62: the end of operator tokens and earlier keys, which tells a mistyped one (OP-05). */
export const crcCheck = (text: string): string => checkOf(crc32(text))

/** A number in base62, with zeros in front up to `length` digits. */
export function base62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits
  return digits.padStart(length, '0')
}

/** A check of six base62 digits, of an integer below 2^53. Requests with unknown keys need it, and BigInt is slow. */
export function checkOf(value: number): string {
  let check = ''
  for (let rest = value; check.length < CHECK_LENGTH; rest = Math.floor(rest / 62)) check = DIGITS[rest % 62] + check
  return check
}

/** The stored form of a key or token: its SHA-256 in hex. A fast hash is safe for 256 random bits. */
export const hashOf = (text: string): string => hash('sha256', text, 'hex')
