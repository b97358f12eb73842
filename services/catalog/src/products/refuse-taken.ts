import { conflict, type MemberPath } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { claimedBy, type ProductChange } from './product-difference.ts'
import { isOneOf } from './read-products.ts'

/** The refusal of a slug or SKU that another product has (OP-14, OP-15). */
export const ofAnotherProduct = (path: MemberPath, value: string) =>
  conflict(
    path,
    `"${value}" belongs to another product of this workspace`,
    path.at(-1) === 'slug' ? 'slug_taken' : 'sku_taken',
  )

/** Which of these SKUs and slugs the workspace has. */
export async function findTaken(tx: Transaction, skus: readonly string[], slugs: readonly string[]) {
  const rows = await tx<{ member: 'sku' | 'slug'; value: string }[]>`
    select 'sku' as member, sku as value from variant
    where workspace_id = ${tx.context.workspaceId} and sku ${isOneOf(tx, skus, 'text')}
    union all
    select 'slug', slug from product
    where workspace_id = ${tx.context.workspaceId} and slug ${isOneOf(tx, slugs, 'text')}`
  const taken = (wanted: string) => new Set(rows.filter(({ member }) => member === wanted).map(({ value }) => value))
  return { skus: taken('sku'), slugs: taken('slug') }
}

/** Throws the refusal of the first SKU that the change claims and that is taken, or of the slug. */
export async function refuseTaken(
  tx: Transaction,
  change: ProductChange,
  refuse: { readonly sku: (sku: string) => Error; readonly slug?: (slug: string) => Error },
): Promise<void> {
  const { skus, slugs } = claimedBy(change)
  if (skus.length + slugs.length === 0) return
  const taken = await findTaken(tx, skus, slugs)
  const sku = skus.find((one) => taken.skus.has(one))
  if (sku !== undefined) throw refuse.sku(sku)
  const slug = slugs.find((one) => taken.slugs.has(one))
  if (slug !== undefined && refuse.slug) throw refuse.slug(slug)
}
