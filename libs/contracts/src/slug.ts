import { LIMITS } from './limits.ts'

const ACCENTS = /[\u0300-\u036f]+/g
const NOT_SLUG = /[^\p{L}\p{M}\p{N}]+/gu

/** What `-999999999` takes, the longest number that makes a slug unique. */
const NUMBER_LENGTH = 10

/**
 * A name as a URL part: lower case, accents dropped, everything but letters and digits as single hyphens. Scripts without
 * case stay as they are. `fallback` is for names that hold no letter or digit. Short enough to take a number behind it.
 */
export function slugify(name: string, fallback: string): string {
  const slug = name.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase().replace(NOT_SLUG, '-')
  return shortened(slug.replace(/^-|-$/g, '')) || fallback
}

/** Some letters become eighteen. */
const shortened = (slug: string): string =>
  slug
    .slice(0, LIMITS.nameLength - NUMBER_LENGTH)
    .replace(/[\ud800-\udbff]$/, '')
    .replace(/-$/, '')
