import { randomBytes, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Attack } from './attack.ts'
import { startRate } from './clients.ts'
import { httpClient } from './http-client.ts'

const A_SECOND = 300
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Sends requests with keys that do not exist and have the right checksum (OP-05). */
export const inventKeys: Attack = async ({ stack }) => {
  const send = httpClient(stack.gateway)
  return startRate(A_SECOND, () => send('GET', '/v1/products', { authorization: `Bearer ${inventedKey()}` }))
}

/** The text of a key (`sk`) or of a session of the console (`cs`). */
export function inventedKey(prefix: 'sk' | 'cs' = 'sk'): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)
  const start = `${prefix}_live_${randomUUID().replaceAll('-', '')}_${secret}`
  return start + base62(BigInt(crc32(start)), 6)
}

function base62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits
  return digits.padStart(length, '0')
}
