import { CHECK_LENGTH, crcCheck, newSecret, textWithoutCheck } from '../secret-text.ts'

const TOKEN = /^op_[0-9a-f]{32}_[0-9A-Za-z]{49}$/

/**
 * A new operator token: `op_`, its id without dashes, `_`, 32 random bytes in base62 and the CRC32 of all that. It has
 * the form of an API key (OP-05), so that scanners for leaked secrets find it, and its id says which one to delete.
 */
export function newToken(id: string): string {
  const start = textWithoutCheck('op', id, newSecret())
  return start + crcCheck(start)
}

/** Whether a string has the form and the checksum of an operator token. Needs no look-up. */
export const isWellFormedToken = (token: string): boolean =>
  TOKEN.test(token) && token.endsWith(crcCheck(token.slice(0, -CHECK_LENGTH)))
