import type { ProductState } from '@backoffice/contracts/product-records.ts'
import fc from 'fast-check'
import type { Condition, Rules } from '../rules.ts'
import { aCategory, aState, aVariant } from './rule-samples.ts'

/** Parts of texts: wildcards, quotes, regular expressions, control characters, and letters with special folding. */
export const PIECES = [
  ...[
    'a',
    'A',
    'ab',
    '%',
    '_',
    '\\',
    '\\\\',
    "'",
    '"',
    '.*',
    '[a]',
    '(',
    '^',
    '$1',
    '{',
    '}',
    ',',
    'null',
    '--',
    ' ',
    '\t',
  ],
  ...[
    '\n',
    '\r\n',
    '\u0085',
    '\u2028',
    '\u00a0',
    'İ',
    'ı',
    'i',
    'I',
    'ß',
    'ẞ',
    'ss',
    'Σ',
    'σ',
    'ς',
    'é',
    'e\u0301',
    'e',
  ],
  ...['\u0301', 'ﬁ', 'fi', '👍', '👍🏽', '👩‍👩‍👧', '\ud83d', '\0', '日本', 'Ａ', 'ᾳ', 'ŉ', '\ufffd', '\u{10ffff}'],
]

const CURRENCIES = ['EUR', 'USD', 'NGN']
const AMOUNTS = [0, 1, 9, 10, 11, 899, 900, 901, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]
const QUANTITIES = [...AMOUNTS, -1, -9, -10, -11, -Number.MAX_SAFE_INTEGER]
const TIMES = [
  ...['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.001Z', '2026-03-01T11:59:59.999Z', '2026-03-01T13:00:00Z'],
  ...['1000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
]
const OFFSET_TIMES = ['2026-03-01T13:00:00+01:00', '2026-03-01T01:00:00.0019-11:00', '2026-03-01T12:00:00.000999Z']
const TYPES = ['SIMPLE_PRODUCT', 'VARIABLE_PRODUCT', 'VIRTUAL_PRODUCT'] as const
const STATUSES = ['ACTIVE', 'HIDDEN', 'ARCHIVED'] as const
const idOf = (number: number) => `abcdef00-0000-7000-8000-00000000000${number}`

const text = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(''))
const money = fc.dictionary(fc.constantFrom(...CURRENCIES), fc.constantFrom(...AMOUNTS), { maxKeys: 2 })
const categories = [1, 2, 3, 4].map((number) => aCategory(idOf(number), `category-${number}`))
const tags = PIECES.slice(0, 40).map((name, index) => ({ id: idOf(index % 9), name, slug: `tag-${index % 9}` }))

/** Any state of a product, from few values, so that conditions often hold. */
export const productState: fc.Arbitrary<ProductState> = fc
  .record({
    name: text,
    type: fc.constantFrom(...TYPES),
    status: fc.constantFrom(...STATUSES),
    categories: fc.subarray(categories),
    tags: fc.subarray(tags, { maxLength: 3 }),
    variants: fc.array(fc.record({ sku: text, price: money, cost: money }).map(aVariant), { maxLength: 4 }),
    total_stock: fc.constantFrom(...QUANTITIES),
    requires_shipping: fc.boolean(),
    can_preorder: fc.boolean(),
    created_at: fc.constantFrom(...TIMES),
  })
  .map(aState)

const EQUALITY = ['eq', 'ne']
const CHOICE = [...EQUALITY, 'in', 'not_in']
const LISTED = [...CHOICE, 'is_set', 'is_not_set']
const TEXT = [...LISTED, 'contains', 'not_contains', 'starts_with', 'ends_with']
const ORDERED = [...LISTED, 'gt', 'gte', 'lt', 'lte']

const idInAnyCase = fc.constantFrom(...[0, 1, 2, 3, 4].map(idOf)).chain((id) => fc.constantFrom(id, id.toUpperCase()))
const amount = fc.constantFrom(...QUANTITIES)

/** Each field with its operators and the values it takes. */
export const FIELDS: readonly [field: string, operators: readonly string[], value: fc.Arbitrary<unknown>][] = [
  ['name', TEXT, text],
  ['sku', TEXT, text],
  ['type', CHOICE, fc.constantFrom(...TYPES)],
  ['status', CHOICE, fc.constantFrom(...STATUSES)],
  ['category', LISTED, fc.oneof(idInAnyCase, fc.constantFrom('category-1', 'Category-2', 'category'), text)],
  ['tag', LISTED, fc.oneof(idInAnyCase, fc.constantFrom('tag-1', 'TAG-2'), text)],
  ...CURRENCIES.flatMap((currency) =>
    ['price', 'cost'].map((money): (typeof FIELDS)[number] => [`${money}.${currency}`, ORDERED, amount]),
  ),
  ['stock', ORDERED, amount],
  ['requires_shipping', EQUALITY, fc.boolean()],
  ['can_preorder', EQUALITY, fc.boolean()],
  ['created_at', ORDERED, fc.constantFrom(...TIMES, ...OFFSET_TIMES)],
]

/** Short or long lists, which PostgreSQL compares in different ways. */
const listOf = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(fc.array(value, { minLength: 1, maxLength: 3 }), fc.array(value, { minLength: 9, maxLength: 16 }))

const TEXT_FIELDS = FIELDS.filter(([, operators]) => operators === TEXT)
const anyField = fc.oneof(fc.constantFrom(...FIELDS), fc.constantFrom(...TEXT_FIELDS))

const condition: fc.Arbitrary<Condition> = anyField.chain(([field, operators, value]) =>
  fc.constantFrom(...operators).chain((operator) => {
    if (operator.startsWith('is_')) return fc.constant({ field, operator })
    const sent = operator.endsWith('in') ? listOf(value) : value
    return sent.map((value) => ({ field, operator, value }))
  }),
)

/** Rules of one or several conditions. */
export const rules: fc.Arbitrary<Rules> = fc.record({
  match: fc.constantFrom('all', 'any'),
  conditions: fc.oneof(
    fc.array(condition, { minLength: 1, maxLength: 1 }),
    fc.array(condition, { minLength: 2, maxLength: 6 }),
  ),
})
