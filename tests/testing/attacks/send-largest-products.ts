import { randomUUID } from 'node:crypto'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { aProduct } from '../products.ts'
import type { Attack } from './attack.ts'
import { startClients } from './clients.ts'

const CLIENTS = 8

/** Creates products whose members are as large as they may be, eight at a time. */
export const sendLargestProducts: Attack = async ({ attacker }) =>
  startClients(CLIENTS, () => attacker.call('POST', '/v1/products', largestProduct()))

/** Each of its thousand tags is new, and has an event of its own. */
function largestProduct() {
  const text = 'x'.repeat(LIMITS.descriptionLength)
  const name = randomUUID().padEnd(LIMITS.nameLength, 'x')
  const tags = Array.from({ length: LIMITS.idsPerCall }, () => randomUUID().padEnd(LIMITS.nameLength, 'x'))
  return aProduct({ name, description: text, purchase_note: text, tags })
}
