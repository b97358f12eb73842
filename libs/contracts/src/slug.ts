const ACCENTS = /[\u0300-\u036f]+/g
const NOT_SLUG = /[^\p{L}\p{M}\p{N}]+/gu

/**
 * A name as a URL part: lower case, accents dropped, everything but letters and digits as single hyphens. Scripts without
 * case stay as they are. `fallback` is for names that hold no letter or digit.
 */
export function slugify(name: string, fallback: string): string {
  const slug = name.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase().replace(NOT_SLUG, '-')
  return slug.replace(/^-|-$/g, '') || fallback
}
