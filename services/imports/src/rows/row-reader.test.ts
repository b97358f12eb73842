import { importTemplate, TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import { TEMPLATES, type Template } from '@backoffice/contracts/imports.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { readHeader } from './header.ts'
import { rowReader } from './row-reader.ts'
import { cellOf, rowValues } from './testing/row-arbitraries.ts'

const reader = (template: Template, header: readonly string[]) =>
  rowReader(template, readHeader(importTemplate(template), header))
const refusal = (path: (string | number)[], reason: string) =>
  expect.objectContaining({ code: 'bad_request', path, reason: expect.stringContaining(reason) })

describe.each(TEMPLATES)('%s: what the reader of cells accepts is what the schema of rows accepts', (template) => {
  const schema: z.ZodObject = TEMPLATE_ROWS[template].row
  const { header, columns } = importTemplate(template)
  const read = reader(template, header)

  it('the example', () => {
    const example: Readonly<Record<string, string>> = TEMPLATE_ROWS[template].example
    const values = read(header.map((name) => example[name] ?? ''))
    expect(Object.keys(values).sort()).toEqual(Object.keys(example).sort())
    expect(schema.safeParse(values)).toMatchObject({ success: true })
  })

  it('any values', () => {
    fc.assert(
      fc.property(rowValues(columns), (values) => {
        const expected = schema.safeParse(values)
        const cells = header.map((name) => cellOf(values[name]))
        if (expected.success) expect(read(cells)).toEqual(expected.data)
        else expect(() => read(cells)).toThrow(expect.objectContaining({ code: 'bad_request' }))
      }),
      { seed: 20_260_301, numRuns: 500 },
    )
  })
})

it('reads the columns in the order of the header, and nothing from empty cells (OP-55)', () => {
  const read = reader('products', ['stock', 'error', 'name', 'sku'])
  expect(read(['5', 'sku: is required', '', 'A'])).toEqual({ sku: 'A', stock: 5 })
})

it('refuses a row without a required cell', () => {
  expect(() => reader('stock', ['sku', 'stock'])(['A', ''])).toThrow(refusal(['stock'], 'is required'))
})

describe('a row has as many cells as the header', () => {
  const read = reader('stock', ['sku', 'stock'])

  it.each([[['A']], [['A', '1', 'x']], [['A', '1', '', 'x']]])('%j is refused', (cells) => {
    const message = `has ${cells.length} cells, the header has 2; put text with separators in quotes`
    expect(() => read(cells)).toThrow(refusal([], message))
  })

  it('empty cells behind the last column do no harm', () => {
    expect(read(['A', '1', '', ''])).toEqual({ sku: 'A', stock: 1 })
  })
})

it('refuses NUL, which PostgreSQL cannot store', () => {
  const read = reader('products', ['sku', 'tags'])
  expect(() => read(['A', 'new;ki\0tchen'])).toThrow(refusal(['tags', 1], 'must not contain NUL characters'))
})

describe('values at their limits are read, and one more is refused (OP-07)', () => {
  const text = (length: number) => 'é'.repeat(length)

  it.each<[string, string, string]>([
    ['name', text(LIMITS.nameLength), text(LIMITS.nameLength + 1)],
    ['description', text(LIMITS.descriptionLength), text(LIMITS.descriptionLength + 1)],
    ['stock', String(Number.MAX_SAFE_INTEGER), String(Number.MAX_SAFE_INTEGER + 1)],
    ['stock', '0', '-1'],
    ['price', `NGN:${Number.MAX_SAFE_INTEGER}`, `NGN:${Number.MAX_SAFE_INTEGER + 1}`],
    ['price', 'NGN:1', 'ngn:1'],
    [
      'tags',
      Array(LIMITS.idsPerCall).fill('x').join(';'),
      Array(LIMITS.idsPerCall + 1)
        .fill('x')
        .join(';'),
    ],
    ['categories', 'mugs', '0190b3a0-0000-7000-8000-000000000001'],
    ['slug', 'a-b', 'A-b'],
    ['tax_class', '0190B3A0-0000-7000-8000-000000000001', '0190b3a0'],
    ['preorder_stops_at', '2026-03-01T12:00:00+05:30', '2026-03-01 12:00'],
    ['preorder_stops_at', '9999-12-31T23:59:59Z', '0999-12-31T23:59:59Z'],
  ])('%s', (column, last, tooMuch) => {
    const read = reader('products', ['sku', column])
    expect(Object.keys(read(['A', last]))).toEqual(['sku', column])
    expect(() => read(['A', tooMuch])).toThrow(
      expect.objectContaining({ code: 'bad_request', path: expect.arrayContaining([column]) }),
    )
  })
})
