import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  CategorySlug,
  Description,
  Email,
  Id,
  MoneyMap,
  MoneyMapInput,
  Name,
  NonNegativeInteger,
  Sku,
  Slug,
  Timestamp,
  TimestampInput,
} from './fields.ts'

const takes = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success
const CURRENCIES = Intl.supportedValuesOf('currency')
const MAX = Number.MAX_SAFE_INTEGER

describe.each<[string, z.ZodType, unknown[], unknown[]]>([
  [
    'Id',
    Id,
    ['0198c7a0-0000-7000-8000-000000000001', '7D1C2C1E-57BB-4F0E-9D5C-6A8A6F9D2B11'],
    [
      '',
      '7',
      '7d1c2c1e57bb4f0e9d5c6a8a6f9d2b11',
      '{7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11}',
      ' 0198c7a0-0000-7000-8000-000000000001',
      null,
    ],
  ],
  [
    'Name',
    Name,
    ['a', ' a ', 'x'.repeat(255), 'é 😀', '\u200dx', '⭐'],
    ['', ' ', '\t\n', '\u00a0', '\u200b\u00ad\u202e', '\u3164 \u2800', 'x'.repeat(256), 7, null],
  ],
  ['Sku', Sku, ['a', 'A b', 'x'.repeat(255)], ['', ' a', 'a ', 'x'.repeat(256), 7, null]],
  [
    'Slug',
    Slug,
    ['a', 'mug-2', '茶', 'é-1', 'x'.repeat(255)],
    ['', 'A', 'a b', 'a--b', '-a', 'a-', 'x'.repeat(256), null],
  ],
  ['CategorySlug', CategorySlug, ['mugs', '0198c7a0'], ['Mugs', '0198c7a0-0000-7000-8000-000000000001', null]],
  [
    'Email',
    Email,
    [
      'ada@example.com',
      `${'a'.repeat(64)}@example.com`,
      'first/last@example.com',
      'x=y@example.com',
      'a&b@example.com',
      "ada'@example.com",
      "!#$%&'*+/=?^_`{|}~-.Z9@EXAMPLE.com",
      'ada@xn--e1afmkfd.xn--p1ai',
      'ada@1.2c',
      'ada@a-.example',
    ],
    [
      'ada',
      '@example.com',
      `${'a'.repeat(65)}@example.com`,
      `ada@${'example.'.repeat(32)}com`,
      '.ada@example.com',
      'ada.@example.com',
      'a..da@example.com',
      'a da@example.com',
      'a@da@example.com',
      '"ada"@example.com',
      'a<b@example.com',
      'ädä@example.com',
      'ada@localhost',
      'ada@127.0.0.1',
      'ada@[127.0.0.1]',
      'ada@example..com',
      'ada@-example.com',
      'ada@example.com-',
      'ada@example.com.',
      'ada@exam_ple.com',
      'ada@example.com\n',
      null,
    ],
  ],
  ['Description', Description, ['', 'x'.repeat(65_536)], ['x'.repeat(65_537), null]],
  [
    'NonNegativeInteger',
    NonNegativeInteger,
    [0, 1, MAX],
    [-1, 1.5, MAX + 1, 1e300, Number.NaN, Number.POSITIVE_INFINITY, '1', null],
  ],
  [
    'Timestamp',
    Timestamp,
    ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.123Z'],
    ['2026-03-01', '2026-03-01T10:00:00+01:00', 0],
  ],
  [
    'TimestampInput',
    TimestampInput,
    [
      '2026-03-01T10:00:00Z',
      '2026-03-01T10:00:00.123456+23:59',
      '2026-03-01T10:00:00.123456+0000',
      '2026-03-01t10:00:00z',
      '2026-03-01T10:00Z',
      '2026-03-01T10:00:00+00',
      '2026-03-01T10:00-03',
      '1000-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
      '2024-02-29T00:00:00Z',
    ],
    [
      'tomorrow',
      '2026-03-01',
      '2026-03-01T10:00:00',
      '2026-03-01T10:00',
      '2026-03-01T10+00',
      '2026-03-01T10Z',
      '2026-03-01T10:00:00+2500',
      '2026-03-01T10:00:00+24',
      '2026-02-30T00:00:00Z',
      '2026-03-01T24:00:00Z',
      1_772_359_200,
    ],
  ],
  [
    'MoneyMap',
    MoneyMap,
    [{}, { NGN: 0 }, { NGN: 450_000, USD: MAX }],
    [
      { ngn: 1 },
      { NAIRA: 1 },
      { N1N: 1 },
      { NGN: -1 },
      { NGN: 0.5 },
      { NGN: MAX + 1 },
      { NGN: '1' },
      { NGN: null },
      5,
      [],
      null,
    ],
  ],
  [
    'MoneyMapInput',
    MoneyMapInput,
    [{}, { NGN: 0 }, Object.fromEntries(CURRENCIES.slice(0, 50).map((code) => [code, MAX]))],
    [
      { ABC: 1 },
      { XXX: 1 },
      { ngn: 1 },
      { NGN: -1 },
      Object.fromEntries(CURRENCIES.slice(0, 51).map((code) => [code, 1])),
    ],
  ],
])('%s', (_name, schema, good, bad) => {
  it.each(good.map((value) => [value]))('takes %j', (value) => {
    expect(takes(schema, value)).toBe(true)
  })
  it.each(bad.map((value) => [value]))('refuses %j', (value) => {
    expect(takes(schema, value)).toBe(false)
  })
})

it.each([
  ['2026-03-01T10:00:00+0130', '2026-03-01T10:00:00+01:30'],
  ['2026-03-01t10:00:00.5z', '2026-03-01T10:00:00.5Z'],
  ['2026-03-01T10:00Z', '2026-03-01T10:00:00Z'],
  ['2026-03-01T10:00:00-03', '2026-03-01T10:00:00-03:00'],
  ['2026-03-01T10:00+0130', '2026-03-01T10:00:00+01:30'],
])('writes the date-time %s as PostgreSQL and JavaScript read it', (sent, kept) => {
  expect(TimestampInput.parse(sent)).toBe(kept)
})

it.each(['yesterday', '', '2026-03-01', '2026-02-30T00:00:00Z', '2026-03-01T00:00:00', '2026-03-01T00:00:00 01:00'])(
  'refuses %j, which is no date-time, and shows one',
  (value) => {
    expect(TimestampInput.safeParse(value).error?.issues[0]?.message).toBe(
      'must be an ISO 8601 date-time with its offset, such as 2026-03-01T12:00:00Z',
    )
  },
)

it.each(['0000-01-01T00:00:00Z', '0999-12-31T23:59:59Z', '1000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'])(
  'refuses %s, a date-time outside the years that are kept, and says so',
  (value) => {
    expect(TimestampInput.safeParse(value).error?.issues[0]?.message).toBe('must lie in the years 1000 to 9999, in UTC')
  },
)

it('the schema of an e-mail address has no pattern, which the registry would refuse to see changed', () => {
  expect(z.toJSONSchema(Email)).not.toHaveProperty('pattern')
  expect(z.toJSONSchema(Email)).toMatchObject({ format: 'email', maxLength: 255 })
})
