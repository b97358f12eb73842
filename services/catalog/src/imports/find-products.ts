import { isId } from '@backoffice/contracts/fields.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { RowsToPlan } from '@backoffice/importing/importer.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The members of a product that are read first. */
export interface FoundProduct {
  readonly id: string
  readonly slug: string
  readonly type: Product['type']
  readonly status: Product['status']
  /** The id of another product whose name gives the same slug, when products are looked for by what rows call them. */
  readonly namesake: string | null
  /** The number of its variants. */
  readonly variants: number
}

/** The existing products that rows can change. */
export interface FoundProducts {
  /** In id order. */
  readonly products: readonly FoundProduct[]
  readonly bySku: ReadonlyMap<string, FoundProduct>
  /** By slug and by id. */
  readonly byName: ReadonlyMap<string, FoundProduct>
}

/**
 * The products that have these SKUs, or these slugs or ids as `names`. Unless it is a check, they and the variants of
 * these SKUs are locked, both in id order, until the transaction ends: orders take stock without a lock on the product.
 * Read the products in a later statement. A SKU that another transaction creates while they are being locked is looked
 * for again; one that it creates afterwards violates its unique constraint, and the batch runs again. One statement
 * when there are none.
 */
export async function findProductsOf(
  tx: Transaction,
  { isCheck }: Pick<RowsToPlan, 'isCheck'>,
  skus: readonly string[],
  names: readonly string[] = [],
): Promise<FoundProducts> {
  const workspace = tx.context.workspaceId
  const called = (words: SqlPart) => tx`(
    select id from product as other
    where other.workspace_id = ${workspace} and other.name_words = ${words} and other.id <> product.id
    order by id limit 1
  )`
  // A number that does not belong to the product's own name was put behind the slug of another one (OP-14).
  const namesake = tx`coalesce(${called(tx`fold_words(product.slug)`)}, ${called(tx`
    case when product.name_words <> fold_words(product.slug) then fold_words(product.slug_stem) end`)})`
  const lock = isCheck ? tx`` : tx`for no key update`
  const found = await tx<{ id: string }[]>`
    select id from product
    where workspace_id = ${workspace} and id = any(array(
      select product_id from variant where workspace_id = ${workspace} and sku = any(${skus as string[]})
      union
      select id from product where workspace_id = ${workspace} and slug = any(${names as string[]})
      union
      select unnest(${names.filter(isId)}::uuid[])
    ))
    order by id ${lock}`
  if (found.length === 0) return { products: [], bySku: new Map(), byName: new Map() }
  const [variants, products] = await Promise.all([
    tx<{ sku: string; product_id: string }[]>`
      select sku, product_id from variant where workspace_id = ${workspace} and sku = any(${skus as string[]})
      order by id ${lock}`,
    tx<FoundProduct[]>`
      select id, slug, type, status, ${names.length === 0 ? tx`null` : namesake} as namesake, (
        select count(*) from variant where workspace_id = ${workspace} and variant.product_id = product.id
      ) as variants
      from product where workspace_id = ${workspace} and id = any(${found.map(({ id }) => id)}::uuid[])
      order by id`,
  ])
  const byId = new Map(products.map((product) => [product.id, product]))
  // A SKU that another product got meanwhile. To a check it is unknown.
  if (!isCheck && variants.some(({ product_id }) => !byId.has(product_id)))
    return findProductsOf(tx, { isCheck }, skus, names)
  const bySku = new Map(
    variants.flatMap(({ sku, product_id }) => {
      const product = byId.get(product_id)
      return product === undefined ? [] : [[sku, product] as const]
    }),
  )
  const byName = new Map(products.map((product) => [product.slug, product]))
  // An id is the id of its product also when another one has it for a slug.
  for (const product of products) byName.set(product.id, product)
  return { products, bySku, byName }
}

/** The slugs of these that products have: slug → the product's id. No statement when there are none. */
export async function findSlugs(tx: Transaction, slugs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (slugs.length === 0) return new Map()
  const rows = await tx<{ slug: string; id: string }[]>`
    select slug, id from product where workspace_id = ${tx.context.workspaceId} and slug = any(${slugs as string[]})`
  return new Map(rows.map(({ slug, id }) => [slug, id]))
}
