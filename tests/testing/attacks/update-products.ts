import { randomUUID } from 'node:crypto'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { aProduct } from '../products.ts'
import type { Attack } from './attack.ts'
import type { Attacker } from './attacker.ts'
import { startClients } from './clients.ts'
import { startSlowReceiver } from './slow-receiver.ts'

/** Updates one product, forty requests at a time. */
export const updateHotProduct: Attack = ({ attacker }) => updateAlways(attacker, 40, aProduct())

/** Updates a product with as many variants as it may have. An endpoint gets its events. */
export const updateLargeProduct =
  (clients: number): Attack =>
  async ({ attacker }) => {
    const receiver = await startSlowReceiver()
    await attacker.change('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['product.updated'] })
    const stop = await updateAlways(attacker, clients, withVariants(LIMITS.variantsPerProduct))
    return async () => {
      await stop()
      receiver.stop()
    }
  }

async function updateAlways(attacker: Attacker, clients: number, product: object) {
  const { id } = await attacker.change<Product>('POST', '/v1/products', product)
  let updates = 0
  return startClients(clients, () => attacker.call('PUT', `/v1/products/${id}`, { name: `Mug ${updates++}` }))
}

function withVariants(count: number) {
  const values = Array.from({ length: count }, (_, n) => `value ${n}`)
  const variants = values.map((value) => ({
    sku: randomUUID(),
    attributes: { Kind: value },
    price: { NGN: 450_000 },
    stock: 4,
  }))
  return { name: 'Mug', type: 'VARIABLE_PRODUCT', options: [{ name: 'Kind', values }], variants }
}
