import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { badRequest } from '@backoffice/contracts/errors.ts'
import { importTemplate } from '@backoffice/contracts/import-templates.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { type CsvRow, UnreadableRow } from '../files/read-csv.ts'
import { refuseDamaged } from './damaged-rows.ts'
import { readHeader } from './header.ts'
import { type RowPage, rowPages } from './row-pages.ts'
import { rowReader } from './row-reader.ts'
import { UniqueKeys } from './unique-keys.ts'

/** The pages of rows below this header, from row 2 on; an error ends them. */
async function pagesOf(
  template: Template,
  header: string,
  read: Iterable<readonly string[] | Omit<CsvRow, 'row'>>,
  { error, mostBytes }: { readonly error?: Error; readonly mostBytes?: number } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'))
  const keys = new UniqueKeys(folder)
  whenDone(() => {
    keys.close()
    rmSync(folder, { recursive: true })
  })
  const csvRows = async function* (): AsyncGenerator<CsvRow> {
    let row = 1
    for (const cells of read) yield { row: ++row, ...('cells' in cells ? cells : { cells }) }
    if (error) throw error
  }
  const readRow = rowReader(template, readHeader(importTemplate(template), header.split(',')))
  const pages: RowPage[] = []
  const rows = refuseDamaged(csvRows(), { readRow, length: header.split(',').length, delimiter: ',' })
  for await (const page of rowPages(rows, { template, readRow, keys }, mostBytes)) pages.push(page)
  return pages
}

const lengthsOf = (pages: readonly RowPage[]) => pages.map(({ read, refused }) => [read.length, refused.length])
const refusedOf = (pages: readonly RowPage[]) =>
  pages.flatMap(({ refused }) => refused.map(({ row, error }) => [row, error.column, error.code, error.message]))
const many = (length: number, cells: (n: number) => string[]) => Array.from({ length }, (_, n) => cells(n))

it('reads rows as JSON with their numbers and keys; rows without any value are left out', async () => {
  const [page] = await pagesOf('stock', 'sku,stock', [['A', '1'], ['', ''], [], ['B', '2']])
  expect(page?.read).toEqual([
    { row: 2, cells: ['A', '1'], key: 'A', json: '{"row":2,"values":{"sku":"A","stock":1}}' },
    { row: 5, cells: ['B', '2'], key: 'B', json: '{"row":5,"values":{"sku":"B","stock":2}}' },
  ])
})

describe('a page ends', () => {
  it('with 500 good rows', async () => {
    const pages = await pagesOf(
      'stock',
      'sku,stock',
      many(1001, (n) => [`S${n}`, '1']),
    )
    expect(lengthsOf(pages)).toEqual([
      [500, 0],
      [500, 0],
      [1, 0],
    ])
  })

  it('with 2,000 bad ones', async () => {
    const pages = await pagesOf(
      'stock',
      'sku,stock',
      many(4001, () => ['', '1']),
    )
    expect(lengthsOf(pages)).toEqual([
      [0, 2000],
      [0, 2000],
      [0, 1],
    ])
  })

  it('before 256 KiB of JSON, and a larger row has a page of its own', async () => {
    const text = 'é'.repeat(30_000)
    const huge = 'é'.repeat(LIMITS.descriptionLength)
    const pages = await pagesOf('products', 'sku,description,purchase_note', [
      ...many(5, (n) => [`S${n}`, text, '']),
      ['HUGE', huge, huge],
      ['LAST', 'x', ''],
    ])
    expect(lengthsOf(pages)).toEqual([
      [4, 0],
      [1, 0],
      [1, 0],
      [1, 0],
    ])
  })

  it('before 1 MiB of cells, each 32 bytes and its text, also of bad rows and of cells that are not read', async () => {
    const note = 'x'.repeat(400_000)
    const bad = await pagesOf(
      'stock',
      'sku,stock',
      many(5, () => [note, '1']),
    )
    expect(lengthsOf(bad)).toEqual([
      [0, 2],
      [0, 2],
      [0, 1],
    ])
    const empty = await pagesOf(
      'stock',
      'sku,stock',
      many(80, () => ['A', '1', 'x', ...Array(997).fill('')]),
    )
    expect(lengthsOf(empty)).toEqual([
      [0, 32],
      [0, 32],
      [0, 16],
    ])
    const unread = await pagesOf(
      'stock',
      'sku,stock,error',
      many(5, (n) => [`S${n}`, '1', note]),
    )
    expect(lengthsOf(unread)).toEqual([
      [2, 0],
      [2, 0],
      [1, 0],
    ])
  })
})

describe('a row with the key of an earlier row is a duplicate (OP-56)', () => {
  it.each<[Template, string, string[][], string]>([
    [
      'products',
      'sku,name',
      [
        ['A', 'Mug'],
        ['a', 'Mug'],
        ['A', 'Cup'],
      ],
      'sku',
    ],
    [
      'stock',
      'sku,stock',
      [
        ['A', '1'],
        ['B', '1'],
        ['A', '2'],
      ],
      'sku',
    ],
    [
      'categories',
      'slug,name',
      [
        ['a', 'A'],
        ['b', 'B'],
        ['a', 'B'],
      ],
      'slug',
    ],
    [
      'collections',
      'handle,name',
      [
        ['a', 'A'],
        ['b', 'B'],
        ['a', 'B'],
      ],
      'handle',
    ],
    [
      'customers',
      'email,firstname',
      [
        ['ada@example.com', 'A'],
        ['b@example.com', 'B'],
        ['ADA@Example.com', 'A'],
      ],
      'email',
    ],
  ])('%s', async (template, header, rows, key) => {
    const pages = await pagesOf(template, header, rows)
    expect(refusedOf(pages)).toEqual([[4, key, 'duplicate', 'row 2 has it already; keep one of them']])
  })

  it('also when it has the slug too', async () => {
    const pages = await pagesOf('products', 'sku,slug', [
      ['A', 'mug'],
      ['A', 'mug'],
    ])
    expect(refusedOf(pages)).toEqual([[3, 'sku', 'duplicate', 'row 2 has it already; keep one of them']])
  })

  it('in a later page too', async () => {
    const pages = await pagesOf('stock', 'sku,stock', [...many(600, (n) => [`S${n}`, '1']), ['S0', '2']])
    expect(refusedOf(pages)).toEqual([[602, 'sku', 'duplicate', 'row 2 has it already; keep one of them']])
  })

  it('but not of one that is bad itself', async () => {
    const pages = await pagesOf('stock', 'sku,stock', [
      ['A', 'many'],
      ['A', '2'],
    ])
    expect(refusedOf(pages).map(([row]) => row)).toEqual([2])
  })
})

it('refuses the slug of an earlier product with conflict, and keeps neither of its keys (OP-56)', async () => {
  const pages = await pagesOf('products', 'sku,slug', [
    ['A', 'mug'],
    ['B', 'mug'],
    ['B', 'cup'],
    ['C', 'cup'],
    ['A', 'jug'],
    ['D', 'jug'],
  ])
  expect(refusedOf(pages)).toEqual([
    [3, 'slug', 'conflict', 'row 2 gives "mug" to another product'],
    [5, 'slug', 'conflict', 'row 4 gives "cup" to another product'],
    [6, 'sku', 'duplicate', 'row 2 has it already; keep one of them'],
  ])
})

it('refuses a row whose texts are too large together, and says so', async () => {
  const description = '\u0001'.repeat(LIMITS.descriptionLength)
  const pages = await pagesOf('products', 'sku,description,purchase_note', [['A', description, description]])
  const message = expect.stringMatching(/^the row has 7\d{5} bytes, more than 524288; shorten its texts$/)
  expect(refusedOf(pages)).toEqual([[2, '', 'unprocessable', message]])
})

describe('a category names its parent to the owner when an earlier page has it (OP-55)', () => {
  const earlierOf = async (rows: string[][]) =>
    (await pagesOf('categories', 'slug,name,parent', rows)).map(({ read, earlier }) => [read.length, earlier])

  it('not when it is in the same page, where the owner sees it, or nowhere above', async () => {
    const rows = [
      ['a', 'A', ''],
      ['b', 'B', 'a'],
      ['c', 'C', 'd'],
      ['d', 'D', 'd'],
    ]
    expect(await earlierOf(rows)).toEqual([[4, []]])
  })

  it('when the page ended with 500 rows', async () => {
    const rows = [...many(500, (n) => [`c${n}`, 'C', '']), ['x', 'X', 'c0'], ['y', 'Y', 'x']]
    expect(await earlierOf(rows)).toEqual([
      [500, []],
      [2, ['c0']],
    ])
  })

  it('when the row itself begins a page, since the page before has no room for it', async () => {
    const long = '日'.repeat(255)
    const pages = await earlierOf(
      many(400, (n) => [`${'日'.repeat(250)}${n}`, long, n === 0 ? '' : `${'日'.repeat(250)}0`]),
    )
    expect(pages.length).toBeGreaterThan(1)
    expect(pages[0]).toEqual([expect.any(Number), []])
    for (const [length, earlier] of pages.slice(1)) expect(earlier).toHaveLength(length as number)
  })
})

describe('a row of several lines is refused when one of them reads as a row of its own: a quote was forgotten', () => {
  const HEADER = 'sku,name,stock'
  it.each<[string, string[], string, boolean]>([
    ['the quotes of two cells', ['A', 'Mug,5\nB,Cup', '3'], 'A,"Mug,5\nB,Cup",3', true],
    [
      'a row between',
      ['A', 'Mug, blue,5\r\nB,Cup,3\r\nC,Pipe 5', '2'],
      'A,"Mug, blue,5\r\nB,Cup,3\r\nC,Pipe 5",2',
      true,
    ],
    ['prose', ['A', 'Mug,\nblue, 5,\nand more', '3'], 'A,"Mug,\nblue, 5,\nand more",3', false],
    ['prose with as many separators', ['A', 'red, 5, 6\nblue, 7', '3'], 'A,"red, 5, 6\nblue, 7",3', false],
    ['a line that fits no column', ['A', 'x\nred,green,blue', '3'], 'A,"x\nred,green,blue",3', false],
  ])('%s', async (_what, cells, lines, isRefused) => {
    const pages = await pagesOf('products', HEADER, [{ cells, lines }])
    expect(refusedOf(pages)).toEqual(
      isRefused ? [[2, '', 'bad_request', expect.stringContaining('reads as a row of its own')]] : [],
    )
  })
})

it('refuses a row whose text is damaged', async () => {
  const pages = await pagesOf('stock', 'sku,stock', [{ cells: ['A', '1'], refusal: badRequest([], 'is no UTF-8') }])
  expect(refusedOf(pages)).toEqual([[2, '', 'bad_request', 'is no UTF-8']])
})

it('reports a row that cannot be read after the rows before it', async () => {
  const unreadable = new UnreadableRow(4, badRequest([], 'a quote opens'))
  const pages = await pagesOf(
    'stock',
    'sku,stock',
    [
      ['A', '1'],
      ['B', '2'],
    ],
    { error: unreadable },
  )
  expect(lengthsOf(pages)).toEqual([[2, 1]])
  expect(refusedOf(pages)).toEqual([[4, '', 'bad_request', 'a quote opens']])
  expect(pages.map(({ unreadAfter }) => unreadAfter)).toEqual([4])
})

it('reads no row behind one with which the rows have too much JSON, and bad rows have none (OP-185)', async () => {
  const rows = many(8, (n) => [`S${n}`, n === 1 ? 'x' : '1'])
  const each = '{"row":2,"values":{"sku":"S0","stock":1}}'.length
  const pages = await pagesOf('stock', 'sku,stock', rows, { mostBytes: 4 * each })
  expect(pages.flatMap(({ read }) => read.map(({ key }) => key))).toEqual(['S0', 'S2', 'S3', 'S4'])
  const message = `the rows up to this one have more than ${4 * each} bytes as JSON; split the file before it`
  expect(refusedOf(pages)).toEqual([
    [3, 'stock', 'bad_request', expect.anything()],
    [7, '', 'unprocessable', message],
  ])
  expect(pages.at(-1)?.unreadAfter).toBe(7)
})
