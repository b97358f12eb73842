import { LIMITS } from './limits.ts'

const ACCENTS = /[\u0300-\u036f]+/g
const NOT_SLUG = /[^\p{L}\p{M}\p{N}]+/gu

/** The length of `-999999999`, the longest suffix that makes a slug unique. */
const NUMBER_LENGTH = 10

/**
 * A name as a URL part: lower case, without accents, hyphens for all but letters and digits. Scripts without case stay
 * unchanged. Leaves room for a number at the end; `fallback` is for names without letters and digits.
 */
export function slugify(name: string, fallback: string): string {
  const slug = name.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase().replace(NOT_SLUG, '-')
  // Cuts the slug, not the name: NFKD turns some letters into eighteen.
  const cut = slug.replace(/^-|-$/g, '').slice(0, LIMITS.nameLength - NUMBER_LENGTH)
  return cut.replace(/[\ud800-\udbff]$/, '').replace(/-$/, '') || fallback
}
