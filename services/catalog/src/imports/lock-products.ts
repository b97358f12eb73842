import type { Product } from '@backoffice/contracts/product.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The members of a product that are read with its lock. */
export interface LockedProduct {
  readonly id: string
  readonly slug: string
  readonly type: Product['type']
  /** The number of its variants. */
  readonly variants: number
}

/** The existing products that a batch can change. */
export interface LockedProducts {
  /** In id order. */
  readonly products: readonly LockedProduct[]
  readonly bySku: ReadonlyMap<string, LockedProduct>
  readonly bySlug: ReadonlyMap<string, LockedProduct>
}

/**
 * Locks the products that have these SKUs or slugs, and the variants of these SKUs, both in id order, until the transaction ends:
 * orders take stock without a lock on the product. Read the products in a later statement. A SKU that another transaction creates
 * afterwards violates its unique constraint, and the batch runs again.
 */
export async function lockProductsOf(
  tx: Transaction,
  skus: readonly string[],
  slugs: readonly string[] = [],
): Promise<LockedProducts> {
  const workspace = tx.context.workspaceId
  const locked = await tx<{ id: string }[]>`
    select id from product
    where workspace_id = ${workspace} and id = any(array(
      select product_id from variant where workspace_id = ${workspace} and sku = any(${skus as string[]})
      union
      select id from product where workspace_id = ${workspace} and slug = any(${slugs as string[]})
    ))
    order by id for no key update`
  if (locked.length === 0) return { products: [], bySku: new Map(), bySlug: new Map() }
  const [variants, products] = await Promise.all([
    tx<{ sku: string; product_id: string }[]>`
      select sku, product_id from variant where workspace_id = ${workspace} and sku = any(${skus as string[]})
      order by id for no key update`,
    tx<LockedProduct[]>`
      select id, slug, type, (
        select count(*) from variant where workspace_id = ${workspace} and variant.product_id = product.id
      ) as variants
      from product where workspace_id = ${workspace} and id = any(${locked.map(({ id }) => id)}::uuid[])
      order by id`,
  ])
  const byId = new Map(products.map((product) => [product.id, product]))
  const bySku = new Map(variants.map(({ sku, product_id }) => [sku, known(byId.get(product_id))]))
  return { products, bySku, bySlug: new Map(products.map((product) => [product.slug, product])) }
}

function known(product: LockedProduct | undefined): LockedProduct {
  if (product === undefined) throw new Error('a SKU moved to another product while the products were being locked')
  return product
}
