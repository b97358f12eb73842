import { randomBytes } from 'node:crypto'
import { base62, CHECK_LENGTH, crcCheck, SECRET_LENGTH } from '../secret-text.ts'

const SECRET_BYTES = 32
const TOKEN = new RegExp(`^op_[0-9a-f]{32}_[0-9A-Za-z]{${SECRET_LENGTH + CHECK_LENGTH}}$`)

/**
 * A new operator token: `op_`, its id without dashes, `_`, 32 random bytes in base62 and the CRC32 of all that. It has
 * the form of an API key (OP-05), so that scanners for leaked secrets find it, and its id says which one to delete.
 */
export function newToken(id: string): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  const start = `op_${id.replaceAll('-', '')}_${base62(secret, SECRET_LENGTH)}`
  return start + crcCheck(start)
}

/** Whether a string has the form and the checksum of an operator token. Needs no look-up. */
export const isWellFormedToken = (token: string): boolean =>
  TOKEN.test(token) && token.endsWith(crcCheck(token.slice(0, -CHECK_LENGTH)))
