import { aProduct } from '../products.ts'
import type { Attack } from './attack.ts'
import { startRate } from './clients.ts'

/** What four keys may send (OP-06). */
const A_SECOND = 400
/** One of so many requests creates a product. */
const CREATE_EVERY = 10

/** Sends as many requests as four keys may: long lists, and creates. */
export const sendAtRateLimit: Attack = async ({ attacker }) => {
  let sent = 0
  return startRate(A_SECOND, () =>
    sent++ % CREATE_EVERY === 0
      ? attacker.call('POST', '/v1/products', aProduct())
      : attacker.call('GET', '/v1/products?limit=100'),
  )
}
