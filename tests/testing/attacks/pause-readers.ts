import { randomBytes } from 'node:crypto'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Attack } from './attack.ts'
import { keepSocketsOpen } from './sockets.ts'
import { uploadOf } from './upload-of.ts'

const READERS = 200

/** Asks for a file of 20 MB two hundred times and reads none of it. */
export const pauseReaders: Attack = async ({ stack, attacker }) => {
  const { url } = await attacker.change<{ url: string }>(
    'POST',
    '/v1/assets',
    uploadOf(randomBytes(LIMITS.assetBytes), 'a.bin'),
  )
  const { host, pathname } = new URL(url)
  return keepSocketsOpen(stack.gateway, READERS, `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, false)
}
