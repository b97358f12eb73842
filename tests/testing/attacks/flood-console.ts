import type { Attack } from './attack.ts'
import { startRate } from './clients.ts'
import { httpClient } from './http-client.ts'
import { inventedKey } from './invent-keys.ts'
import { logIn } from './log-in.ts'

const A_SECOND = 200
/** What the pages read again and again. */
const READS = ['/deliveries?limit=100', '/webhooks?limit=100', '/usage', '/limits', '/products?limit=100']

/** Reads with a session as often as it may (OP-06), and asks with sessions that do not exist. */
export const floodConsole: Attack = async ({ stack: { gateway }, attacker: { keys } }) => {
  const send = httpClient(gateway)
  const ours = await logIn(gateway, keys[0])
  let sent = 0
  return startRate(A_SECOND, () => {
    const read = READS[(sent >> 1) % READS.length]
    return sent++ % 2 === 0
      ? send('GET', `/console/api/v1${read}`, ours)
      : send('GET', '/console/session', {
          ...ours,
          cookie: `console=${inventedKey('cs')}; operator=${inventedKey('cs')}`,
        })
  })
}
