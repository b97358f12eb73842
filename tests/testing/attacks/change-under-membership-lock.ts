import type { Product } from '@backoffice/contracts/product.ts'
import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import { aProduct } from '../products.ts'
import type { Attack } from './attack.ts'
import { startRate } from './clients.ts'
import { holdLock } from './hold-lock.ts'

const PRODUCTS = 20
const CHANGES_A_SECOND = 20

/** Changes products while the membership lock of their workspace is held, as by a build of a large collection. */
export const changeUnderMembershipLock: Attack = async ({ attacker, sql }) => {
  const ids: string[] = []
  while (ids.length < PRODUCTS) ids.push((await attacker.change<Product>('POST', '/v1/products', aProduct())).id)
  const release = await holdLock(
    sql,
    (tx) => tx`select pg_advisory_xact_lock(${ADVISORY_LOCKS.membership}::integer, hashtext(${attacker.id}))`,
  )
  let changes = 0
  const stop = startRate(CHANGES_A_SECOND, () => {
    const number = changes++
    return attacker.call('PUT', `/v1/products/${ids[number % PRODUCTS]}`, { name: `Mug ${number}` })
  })
  return async () => {
    await stop()
    await release()
  }
}
