import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { Transaction } from './database.ts'

/** The slugs of a table, unique in a workspace, and numbered where they are derived from a name (decision 002). */
export interface NumberedSlugs {
  /** A migration has called `number_slugs` for it. */
  readonly table: string
  /** The text whose hash is one of the 64 locks on families, without the lock's number. All versions use the same. */
  readonly lockPrefix: (workspaceId: string) => string
}

/** A slug, whether it is taken, and the highest number in its family (decision 002). */
export interface SlugFamily {
  readonly slug: string
  readonly isTaken: boolean
  readonly highest: number
}

/**
 * An expression that locks the families of these slugs and reads them: a JSON array of `SlugFamily`. Sorted slugs queue
 * and do not deadlock.
 */
export const lockedFamilies = (tx: Transaction, { table, lockPrefix }: NumberedSlugs, slugs: readonly string[]) => tx`
  (
    select coalesce(json_agg(family), '[]') from ${tx(`${table}_slug_families`)}(
      ${tx.context.workspaceId}, ${lockPrefix(tx.context.workspaceId)}, ${slugs as string[]}
    ) as family
  )`

/** `lockedFamilies` in a statement of its own, in the order of the slugs. */
export async function lockFamilies(
  tx: Transaction,
  numbered: NumberedSlugs,
  slugs: readonly string[],
): Promise<SlugFamily[]> {
  if (slugs.length === 0) return []
  const [found] = await tx<[{ families: SlugFamily[] }]>`
    select ${lockedFamilies(tx, numbered, slugs.toSorted())} as families`
  return found.families
}

/** The derived slugs that are taken, or that several rows share: only their families are locked. */
export function takenOrRepeatedSlugs(derived: readonly string[], isTaken: (slug: string) => boolean): string[] {
  const seen = new Set<string>()
  return [...new Set(derived.filter((slug) => isTaken(slug) || seen.size === seen.add(slug).size))]
}

const HIGHEST_NUMBER = 999_999_999

/**
 * Gives one row after the other a slug: the derived one or, where that is taken, its family's next number (OP-14).
 * `explicit` slugs count as taken. A numbered slug never equals one in `derived`, whose family may not be locked.
 * Throws `unprocessable` when the numbers are used up.
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
    for (let number = (highest.get(slug) ?? 1) + 1; number <= HIGHEST_NUMBER; number += 1) {
      highest.set(slug, number)
      const candidate = `${slug}-${number}`
      if (!taken.has(candidate) && !wanted.has(candidate)) return candidate
    }
    throw unprocessable(['name'], 'no slug is left for it; give it one')
  }
  return (slug) => {
    const chosen = taken.has(slug) ? numbered(slug) : slug
    taken.add(chosen)
    return chosen
  }
}

/** The slug of a single row: the derived one, or its family's next number. Throws as `slugChooser` does. */
export const chooseSlug = (families: readonly SlugFamily[], derived: string): string =>
  slugChooser(families, new Set(), [derived])(derived)
