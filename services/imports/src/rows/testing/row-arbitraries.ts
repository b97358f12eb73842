import type { ColumnType, ImportColumn } from '@backoffice/contracts/import-templates.ts'
import fc from 'fast-check'

/** Text of several scripts, also blank, long or in the form of a column. Not empty: that is an empty cell. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((value) => !value.includes('\0')),
  fc.constantFrom(
    'a-b',
    'mugs',
    'A-b',
    ' x',
    ' ',
    'ada@example.com',
    'ada@',
    '=1',
    "'=1",
    'é'.repeat(255),
    'x'.repeat(256),
  ),
  fc.constantFrom('x'.repeat(65_536), 'x'.repeat(65_537), '0190b3a0-0000-7000-8000-000000000001'),
)

const integer = fc.oneof(fc.integer(), fc.nat(), fc.constantFrom(0, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, -1))

/** Without separators and spaces at the ends, which a cell cannot hold. */
const item = text.map((value) => value.replaceAll(';', '').trim()).filter((value) => value !== '')

const VALUES: Readonly<Record<ColumnType, (column: ImportColumn) => fc.Arbitrary<unknown>>> = {
  string: () => text,
  uuid: () =>
    fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
      text,
    ),
  date: () => text,
  datetime: () =>
    fc.oneof(
      fc
        .date({ noInvalidDate: true, min: new Date('0900-01-01'), max: new Date('+010100-01-01') })
        .map((at) => at.toISOString()),
      fc.constantFrom('2026-03-01T12:00:00+05:30', '2026-03-01', '2026-03-01T12:00', '9999-12-31T23:59:59-01:00'),
    ),
  enum: ({ enum: allowed }) => fc.oneof(fc.constantFrom(...allowed), text),
  integer: () => integer,
  boolean: () => fc.boolean(),
  money: () =>
    fc.dictionary(fc.constantFrom('NGN', 'USD', 'EUR', 'eur'), integer, { minKeys: 1 }).map((money) => ({ ...money })),
  list: () => fc.array(item, { minLength: 1, maxLength: 4 }),
}

const slug = fc.stringMatching(/^[a-z]{1,8}(-[0-9a-z]{1,8})?$/)
const datetime = fc.date({ noInvalidDate: true, min: new Date('1970-01-01'), max: new Date('2100-01-01') })

/** Values that every rule of a column of the type lets pass. */
const GOOD: Readonly<Record<ColumnType, (column: ImportColumn) => fc.Arbitrary<unknown>>> = {
  string: ({ name }) => (name === 'email' ? slug.map((local) => `${local}@example.com`) : slug),
  uuid: () => fc.uuid(),
  date: () => datetime.map((at) => at.toISOString().slice(0, 10)),
  datetime: () => datetime.map((at) => at.toISOString()),
  enum: ({ enum: allowed }) => fc.constantFrom(...allowed),
  integer: () => fc.nat(),
  boolean: () => fc.boolean(),
  money: () => fc.record({ NGN: fc.nat(), USD: fc.nat() }, { requiredKeys: ['NGN'] }),
  list: () => fc.array(slug, { minLength: 1, maxLength: 4 }),
}

/** Values of a row by column. Most of them fit the rules of their column, and some columns have none. */
export const rowValues = (columns: readonly ImportColumn[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(
    Object.fromEntries(
      columns.map((column) => [
        column.name,
        fc.oneof(
          { weight: 15, arbitrary: GOOD[column.type](column) },
          { weight: 1, arbitrary: VALUES[column.type](column) },
        ),
      ]),
    ),
    { requiredKeys: [] },
  )

/** A value as a cell of a file. */
export function cellOf(value: unknown): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.join(';')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([currency, amount]) => `${currency}:${amount}`)
    .join(';')
}
