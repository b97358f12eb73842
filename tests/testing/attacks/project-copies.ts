import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { aProduct } from '../products.ts'
import type { AttackPlace } from './attack.ts'

/** Copies a product of the attacker in the projection of collections, as if catalog had published so many. */
export async function projectCopies({ attacker, sql }: AttackPlace, count: number): Promise<void> {
  const { id } = await attacker.change<Product>('POST', '/v1/products', aProduct())
  await eventually(
    'the product is projected',
    async () => (await sql`select from collections.product where id = ${id}`).length > 0,
  )
  await sql`
    insert into collections.product (
      workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping, can_preorder,
      created_at, body
    )
    select workspace_id, uuidv7(), version, name || ' ' || n, skus, type, status, categories, tags, prices, costs, stock,
      requires_shipping, can_preorder, created_at, body
    from collections.product, generate_series(1, ${count}::integer) as n
    where id = ${id}`
  await sql`analyze collections.product`
}
