import type { Product } from '@backoffice/contracts/product.ts'
import { aProduct } from '../products.ts'
import type { Attack } from './attack.ts'
import { startClients } from './clients.ts'
import { holdLock } from './hold-lock.ts'

const CLIENTS = 12

/** Updates a product, twelve requests at a time, while another transaction keeps its row locked. */
export const updateLockedProduct: Attack = async ({ attacker, sql }) => {
  const { id } = await attacker.change<Product>('POST', '/v1/products', aProduct())
  const release = await holdLock(sql, (tx) => tx`select from catalog.product where id = ${id} for update`)
  let updates = 0
  const stop = startClients(CLIENTS, () => attacker.call('PUT', `/v1/products/${id}`, { name: `Mug ${updates++}` }))
  return async () => {
    await Promise.all([release(), stop()])
  }
}
