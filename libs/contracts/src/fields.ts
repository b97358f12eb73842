import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { named } from './named.ts'

/** A UUID of any version (spec: Conventions), since ids are opaque to callers. Upper case becomes lower case. */
export const Id = z
  .guid({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a UUID') })
  .toLowerCase()

/** Whether a text is an id, where a slug is allowed too. `Id` would build an error for each that is none. */
export const isId = (text: string): boolean => z.regexes.guid.test(text)

/** ISO 8601 UTC date-time (spec: Conventions). */
export const Timestamp = z.iso.datetime()

const NO_TIMESTAMP = 'must be an ISO 8601 date-time with its offset, such as 2026-03-01T12:00:00Z'

/**
 * A date-time in a request, with any offset, also one without a colon or minutes, without seconds, and in lower case.
 * Refuses years that PostgreSQL and JavaScript read differently.
 */
export const TimestampInput = z
  .string()
  .toUpperCase()
  .overwrite((value) => value.replace(/([+-]\d\d)(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`))
  .overwrite((value) => value.replace(/(T\d\d:\d\d)(?=[Z+-])/, '$1:00'))
  .check(z.iso.datetime({ offset: true, error: NO_TIMESTAMP }))
  .refine((value) => {
    const year = new Date(value).getUTCFullYear()
    return !(year < 1000 || year > 9999)
  }, 'must lie in the years 1000 to 9999, in UTC')

const shortText = (text: z.ZodString) => text.min(1).max(LIMITS.nameLength)

/** 1 to 255 characters (OP-07). */
const ShortText = shortText(z.string())

const LOCAL_PART = 64

/** The atoms of RFC 5321 at two or more labels. A last one of digits alone would be an IPv4 address. */
const ADDRESS =
  /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([A-Za-z\d][A-Za-z\d-]*\.)+(?!\d+$)[A-Za-z\d]([A-Za-z\d-]*[A-Za-z\d])?$/

/**
 * An e-mail address, kept as sent: an ASCII local part of at most 64 characters at a domain (OP-40). The schema of a
 * record has no pattern, since the registry refuses a changed one.
 */
export const Email = z
  .stringFormat('email', (text) => ADDRESS.test(text), 'must be an e-mail address, such as ada@example.com')
  .max(LIMITS.nameLength)
  .refine((email) => email.indexOf('@') <= LOCAL_PART, `must have at most ${LOCAL_PART} characters before the @`)

/** A character that shows: neither a space, a control or format character, nor one of the four blank letters. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\u115F\u1160\u2800\u3164\uFFA0]/u

/** A required name, with a character that shows (OP-07). */
export const Name = ShortText.refine((value) => VISIBLE.test(value), 'must not be blank')

/** A SKU, without spaces around it (OP-07). */
export const Sku = ShortText.refine((sku) => sku === sku.trim(), 'must not begin or end with a space')

/** A slug or an id of something. It is composed before its length is checked, so accents may be encoded either way. */
export const Reference = shortText(z.string().normalize('NFC'))

const slug = (text: z.ZodString) =>
  text
    .regex(
      /^[\p{L}\p{M}\p{N}]+(-[\p{L}\p{M}\p{N}]+)*$/u,
      'must be letters and digits in parts joined by single hyphens',
    )
    .refine((slug) => slug === slug.toLowerCase(), 'must be lower case')

/** A slug in a request, in the form that `slugify` makes (OP-26). */
export const Slug = slug(Reference)

/** A slug or an id in a request. An id in upper case becomes lower case. */
export const SlugOrId = slug(Reference.overwrite((text) => (isId(text) ? text.toLowerCase() : text)))

/** Not in the form of an id, since the `categories` of a product would take it for one (OP-38). */
export const CategorySlug = Slug.refine((slug) => !isId(slug), 'must not look like a UUID')

export const Description = z.string().max(LIMITS.descriptionLength)

/** JSON has a `-0`. It would look like a change of 0, and is stored as that. */
const withoutSign = (value: number): number => value + 0

/** A count or amount that cannot be negative; JSON integers beyond 2^53−1 are refused (OP-07). */
export const NonNegativeInteger = z.int().min(0).overwrite(withoutSign)

/** PostgreSQL keeps positions as integers. */
export const MAX_POSITION = 2_147_483_647

/** A position among siblings. */
export const Position = z.int().min(0).max(MAX_POSITION).overwrite(withoutSign)

/** An ISO 4217 currency code. */
export const CurrencyCode = z.string().regex(/^[A-Z]{3}$/, 'is not an ISO 4217 currency code')

/** Amounts in minor units by ISO 4217 currency code (spec: Conventions), as answers and records have them. */
export const MoneyMap = named('MoneyMap', z.record(CurrencyCode, NonNegativeInteger))
export type MoneyMap = z.output<typeof MoneyMap>

/** The currencies in use, by ISO 4217. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** The code of a currency in use, in a request. */
export const KnownCurrency = CurrencyCode.refine((code) => CURRENCIES.has(code), 'is not an ISO 4217 currency code')

/**
 * Amounts in a request: at most 50 currencies (OP-120), in the order in which PostgreSQL stores them, so that the
 * answer to a change has the tag of what is read later (OP-266). `MoneyMap` reads what was stored before that limit.
 */
export const MoneyMapInput = named(
  'MoneyMapInput',
  z
    .record(KnownCurrency, NonNegativeInteger)
    .refine(
      (amounts) => Object.keys(amounts).length <= LIMITS.currencies,
      `must have at most ${LIMITS.currencies} currencies`,
    )
    .overwrite((amounts) => Object.fromEntries(Object.entries(amounts).toSorted())),
)

/** A list or map in a request, or a part of one: `null` counts as not sent, as generated clients do (OP-244). */
export const orAbsent = <Shape extends z.ZodType>(shape: Shape) =>
  shape
    .nullable()
    .transform((value) => value ?? undefined)
    .optional()

/** Kinds of members that `null` unsets, for the declarations of aggregates (members.ts). */
export const OPTIONAL_NAME = { sql: 'text', shape: z.string().nullable(), input: Name, unset: null } as const
export const OPTIONAL_DESCRIPTION = { ...OPTIONAL_NAME, input: Description } as const
export const OPTIONAL_TIME = {
  sql: 'timestamptz',
  shape: Timestamp.nullable(),
  input: TimestampInput,
  unset: null,
} as const
export const OPTIONAL_COUNT = {
  sql: 'bigint',
  shape: NonNegativeInteger.nullable(),
  input: NonNegativeInteger,
  unset: null,
} as const
