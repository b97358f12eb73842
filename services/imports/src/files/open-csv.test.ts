import { describe, expect, it } from 'vitest'
import { delimiterOf, openCsv } from './open-csv.ts'
import { chunksOf } from './testing/chunks.ts'

const isName = (cell: string) => ['sku', 'name', 'stock'].includes(cell.trim())

describe('the delimiter is the one that finds most of the names in the first line', () => {
  it.each([
    ['sku,name,stock\nA,B;C;D;E,1', ','],
    ['sku;name;stock\r\nA;B,C;1', ';'],
    ['sku\tname\tstock\rA\tB\t1', '\t'],
    ['"sku";"name";"stock"\n', ';'],
    ['\n;;\n ; ; \nsku;name;stock\n', ';'],
    [' sku ; name ;stock\n', ';'],
    ['"a,b,c,d",;sku;name\n', ';'],
    ['sku\n1\n', ','],
    ['', ','],
    ['"never closed;sku;name', ','],
  ])('%j → %j', (text, delimiter) => {
    expect(delimiterOf(text, isName)).toBe(delimiter)
  })
})

describe('what comes before the rows is not one of them, wherever the chunks are cut', () => {
  const rows = [
    [1, 'sku', 'stock'],
    [2, 'A', '1,5'],
  ]
  const quoted = 'sku,stock\nA,"1,5"\n'
  it.each([
    ['nothing', quoted, rows],
    ['a byte order mark', `\ufeff${quoted}`, rows],
    ['a separator', 'sep=;\nsku;stock\nA;1,5\n', rows],
    ['both', '\ufeffSEP=;\r\nsku;stock\r\nA;1,5\r\n', rows],
    ['a separator in quotes', '"sep=\t"\rsku\tstock\rA\t1,5', rows],
    ['another separator than that of most names', 'sep=,\nsku;stock\n', [[1, 'sku;stock']]],
    [
      'a separator that is none',
      'sep=x\nA',
      [
        [1, 'sep=x'],
        [2, 'A'],
      ],
    ],
    ['only a separator', 'sep=;', []],
    ['only a byte order mark', '\ufeff', []],
    [
      'empty lines, which are rows (OP-52)',
      '\n\r\nsku;stock\n',
      [
        [1, ''],
        [2, ''],
        [3, 'sku', 'stock'],
      ],
    ],
  ])('%s', async (_what, text, expected) => {
    for (const size of [1, 2, 3, 64 * 1024]) {
      const { rows } = await openCsv(chunksOf(Buffer.from(text), size), isName)
      const read: unknown[] = []
      for await (const { row, cells } of rows) read.push([row, ...cells])
      expect(read).toEqual(expected)
    }
  })
})

it('counts what comes before the rows among the bytes of the file', async () => {
  const bytes = Buffer.concat([Buffer.from('\ufeffsep=,\nsku\n'), Buffer.from([0xe9])])
  const { rows } = await openCsv(chunksOf(bytes, 4), isName)
  const [, row] = await Array.fromAsync(rows)
  expect(row?.refusal?.message).toContain(`the byte ${bytes.length} of the file`)
})
