import { z } from 'zod'
import { LIMITS } from './limits.ts'

/**
 * An identifier (spec: Conventions). Any RFC 9562 version is accepted, since ids are opaque to callers, in either case, which
 * becomes the lower one.
 */
export const Id = z.guid('must be a UUID').toLowerCase()

/** Whether a text is an identifier: where a slug may stand as well. */
export const isId = (text: string): boolean => Id.safeParse(text).success

/** ISO 8601 UTC date-time (spec: Conventions). */
export const Timestamp = z.iso.datetime()

const NO_TIMESTAMP = 'must be an ISO 8601 date-time with its offset, such as 2026-03-01T12:00:00Z'

/** A date-time in a request, with any offset. Years that PostgreSQL and JavaScript do not read alike are refused. */
export const TimestampInput = z.iso
  .datetime({ offset: true, error: ({ code }) => (code === 'invalid_format' ? NO_TIMESTAMP : undefined) })
  .refine((value) => {
    const year = new Date(value).getUTCFullYear()
    return !(year < 1000 || year > 9999)
  }, 'must lie in the years 1000 to 9999, in UTC')

/** A required name: 1 to 255 characters, not only spaces (OP-07). */
export const Name = z
  .string()
  .min(1)
  .max(LIMITS.nameLength)
  .refine((value) => value.trim() !== '', 'must not be blank')

/** A SKU: 1 to 255 characters without spaces around them (OP-07). */
export const Sku = z
  .string()
  .min(1)
  .max(LIMITS.nameLength)
  .refine((sku) => sku === sku.trim(), 'must not begin or end with a space')

/** A slug that is sent, in the form that names are brought into (OP-26). */
export const Slug = z
  .string()
  .min(1)
  .max(LIMITS.nameLength)
  .regex(/^[\p{L}\p{M}\p{N}]+(-[\p{L}\p{M}\p{N}]+)*$/u, 'must be letters and digits in parts joined by single hyphens')
  .refine((slug) => slug === slug.toLowerCase(), 'must be lower case')

/** A slug that looks like an id would never be found: `categories` of a product takes it for one (OP-38). */
export const CategorySlug = Slug.refine((slug) => !isId(slug), 'must not look like a UUID')

export const Description = z.string().max(LIMITS.descriptionLength)

/** A count or amount that cannot be negative; JSON integers beyond 2^53−1 are refused (OP-07). */
export const NonNegativeInteger = z.int().min(0)

const CURRENCY = /^[A-Z]{3}$/

/** Amounts in minor units by ISO 4217 currency code (spec: Conventions). */
export const MoneyMap = z.record(z.string().regex(CURRENCY, 'is not an ISO 4217 currency code'), NonNegativeInteger)
export type MoneyMap = z.output<typeof MoneyMap>
