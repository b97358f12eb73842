import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** Which of these slugs the workspace's products have: slug → the product's id. */
export async function findSlugs(tx: Transaction, slugs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (slugs.length === 0) return new Map()
  const rows = await tx<{ slug: string; id: string }[]>`
    select slug, id from product where workspace_id = ${tx.context.workspaceId} and slug = any(${slugs as string[]})`
  return new Map(rows.map(({ slug, id }) => [slug, id]))
}

/** A slug's family as the workspace has it: whether the slug is taken, and the highest number in it (decision 002). */
export interface SlugFamily {
  readonly slug: string
  readonly isTaken: boolean
  readonly highest: number
}

/**
 * Locks and reads the families of these slugs, as creating a product does (decision 002). Locked are only those that need a
 * number: each lock is a place in a table that the whole server shares. In the order of the slugs, so that imports queue.
 */
export async function lockFamilies(tx: Transaction, slugs: readonly string[]): Promise<SlugFamily[]> {
  if (slugs.length === 0) return []
  const workspace = tx.context.workspaceId
  const sorted = [...slugs].sort()
  await tx`
    select pg_advisory_xact_lock(hashtextextended(${`${workspace}/`} || slug, 0))
    from (select slug from unnest(${sorted}::text[]) with ordinality as wanted (slug, ordinal) order by ordinal) as wanted`
  return tx<SlugFamily[]>`
    select
      wanted.slug,
      exists (select from product where workspace_id = ${workspace} and product.slug = wanted.slug) as "isTaken",
      coalesce((select max(slug_number) from product where workspace_id = ${workspace} and slug_stem = wanted.slug), 1) as highest
    from unnest(${sorted}::text[]) as wanted (slug)`
}

/** The slugs that more than one product would have, if each got the one derived from its name. */
export function crowded(derived: readonly string[], isTaken: (slug: string) => boolean): string[] {
  const seen = new Set<string>()
  return [...new Set(derived.filter((slug) => isTaken(slug) || seen.size === seen.add(slug).size))]
}

const HIGHEST_NUMBER = 999_999_999

/**
 * Gives one product after the other a slug of its own: the derived one or, where that is taken, the family's next number (OP-14).
 * `explicit` slugs of the batch are taken; no number makes a slug that is `derived` for another product, whose family is not
 * locked. Throws `unprocessable` when the numbers are used up.
 */
export function slugChooser(
  families: readonly SlugFamily[],
  explicit: ReadonlySet<string>,
  derived: readonly string[],
): (derived: string) => string {
  const taken = new Set([...explicit, ...families.filter(({ isTaken }) => isTaken).map(({ slug }) => slug)])
  const wanted = new Set(derived)
  const highest = new Map(families.map((family) => [family.slug, family.highest]))
  const numbered = (slug: string): string => {
    const number = (highest.get(slug) ?? 1) + 1
    if (number > HIGHEST_NUMBER) throw unprocessable('name: no slug is left for it; give the row a slug')
    highest.set(slug, number)
    const candidate = `${slug}-${number}`
    return taken.has(candidate) || wanted.has(candidate) ? numbered(slug) : candidate
  }
  return (slug) => {
    const chosen = taken.has(slug) ? numbered(slug) : slug
    taken.add(chosen)
    return chosen
  }
}
