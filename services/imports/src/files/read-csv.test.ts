import { setImmediate } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_ROW_BYTES, readCsv, UnreadableRow } from './read-csv.ts'
import { chunksOf } from './testing/chunks.ts'

const MIB = 1024 * 1024

/** The rows as `[number, ...cells]`, and the refusal of the row at which the reading ends. */
async function read(text: string | AsyncIterable<Buffer>, { delimiter = ',', size = 64 * 1024 } = {}) {
  const rows: (string | number)[][] = []
  try {
    const chunks = typeof text === 'string' ? chunksOf(Buffer.from(text), size) : text
    for await (const { row, cells } of readCsv(chunks, delimiter)) rows.push([row, ...cells])
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error
    return { rows, refused: { row: error.row, message: error.message } }
  }
  return { rows }
}

describe('a file is read by RFC 4180, wherever its chunks are cut', () => {
  it.each([
    [
      'LF',
      'a,b\n1,2\n',
      [
        [1, 'a', 'b'],
        [2, '1', '2'],
      ],
    ],
    [
      'CRLF',
      'a,b\r\n1,2\r\n',
      [
        [1, 'a', 'b'],
        [2, '1', '2'],
      ],
    ],
    [
      'CR',
      'a,b\r1,2\r',
      [
        [1, 'a', 'b'],
        [2, '1', '2'],
      ],
    ],
    [
      'all of them mixed',
      'a\r\nb\nc\rd\n\re',
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
        [4, 'd'],
        [5, ''],
        [6, 'e'],
      ],
    ],
    [
      'no line break at the end',
      'a,b\n1,',
      [
        [1, 'a', 'b'],
        [2, '1', ''],
      ],
    ],
    [
      'quoted separators, quotes and line breaks',
      '"a,b","c""d","e\r\nf\ng"\nh',
      [
        [1, 'a,b', 'c"d', 'e\r\nf\ng'],
        [2, 'h'],
      ],
    ],
    ['a quote within a cell', '5" pipe,"a" b\n', [[1, '5" pipe', '"a" b']]],
    ['spaces, which belong to the cell', ' a , b\n', [[1, ' a ', ' b']]],
    ['characters of several bytes', 'é,日本,😀\n', [[1, 'é', '日本', '😀']]],
    [
      'rows of other lengths',
      'a,b\n1\n1,2,3\n',
      [
        [1, 'a', 'b'],
        [2, '1'],
        [3, '1', '2', '3'],
      ],
    ],
    ['nothing', '', []],
  ])('%s', async (_what, text, rows) => {
    for (const size of [1, 2, 3, 5, MIB]) expect(await read(text, { size })).toEqual({ rows })
  })
})

/** The refusals of rows, by their numbers. */
async function refusals(bytes: Buffer, skipped = 0) {
  const found: (readonly [number, string])[] = []
  for (const size of [1, 3, MIB]) {
    found.length = 0
    for await (const { row, refusal } of readCsv(chunksOf(bytes, size), ',', skipped)) {
      if (refusal !== undefined) found.push([row, refusal.message])
    }
  }
  return found
}

describe('a row with a byte that is not UTF-8 is refused, and the others are read', () => {
  const place = (byte: number, value: string) =>
    expect.stringContaining(`the byte ${byte} of the file (0x${value}) is not UTF-8`)

  it('with the place of the byte', async () => {
    const bytes = Buffer.from('sku,é\r\nA,"é\r\nx"\r\nB,?\r\nC,日本\r\n?')
    const bad = [...bytes.keys()].filter((at) => bytes[at] === 0x3f)
    for (const at of bad) bytes[at] = 0xfc
    const [first = 0, second = 0] = bad
    const expected = (skipped: number) => [
      [3, place(skipped + first + 1, 'FC')],
      [5, place(skipped + second + 1, 'FC')],
    ]
    expect(await refusals(bytes)).toEqual(expected(0))
    expect(await refusals(bytes, 3)).toEqual(expected(3))
  })

  it.each([
    ['a byte that only follows others', [0x41, 0x80], 2, '80'],
    ['a character that is cut', [0x41, 0xe6, 0x97, 0x2c], 2, 'E6'],
    ['a character in too many bytes', [0xc0, 0xaf], 1, 'C0'],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80], 1, 'ED'],
    ['a character beyond Unicode', [0xf5, 0x80, 0x80, 0x80], 1, 'F5'],
  ])('%s', async (_what, bytes, at, value) => {
    expect(await refusals(Buffer.from(bytes))).toEqual([[1, place(at, value)]])
  })

  it('and so is one in which a character was lost before', async () => {
    expect(await refusals(Buffer.from('Caf\ufffd\nCafé\n'))).toEqual([[1, expect.stringContaining('U+FFFD')]])
  })
})

it('refuses a row of several lines whose quote is closed by that of another row', async () => {
  const quote = (row: number) => [[row, expect.stringContaining('closed within a cell of a later line')]]
  expect(await refusals(Buffer.from('a,b,c\nA,"Mug,5\nB,"Cup",3\nC,Jug,1\n'))).toEqual(quote(2))
  expect(await refusals(Buffer.from('a\r\n"A\r\n"B" ""\r\nC'))).toEqual(quote(2))
  expect(await refusals(Buffer.from('5" pipe,"two\nlines"\n"""Quoted"" text\nof ""two""",x\n"""\n"""\n'))).toEqual([])
})

it('refuses a row with text behind the closing quote of a cell', async () => {
  const refused = (row: number) => [row, expect.stringContaining('has text behind its closing quote')]
  const text = 'A,"Mug" ,1\n"B"x"",1\n"C""" ,1\nD,"two\nlines","Mug" ,1\n'
  expect(await refusals(Buffer.from(text))).toEqual([1, 2, 3, 4].map(refused))
  const good = '"""a"""," b ",5" pipe,"","""Mug"" ","two\n""lines"""\n'
  expect(await refusals(Buffer.from(`${good}${'"""",'.repeat(1001)}\n`))).toEqual([])
})

it('refuses no quote of a row that is written by RFC 4180', async () => {
  const cell = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', ' ', 'a', 'é'), maxLength: 5 })
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom('\n', '\r\n'), async (all, end) => {
      const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
      const text = all.map((cells) => cells.map(quoted).join(',')).join(end)
      const read = await Array.fromAsync(readCsv(chunksOf(Buffer.from(text), 7), ','))
      expect(read.filter(({ refusal }) => refusal !== undefined)).toEqual([])
    }),
    { numRuns: 300 },
  )
})

it('numbers rows as a spreadsheet does: empty lines count, line breaks in quotes do not (OP-52)', async () => {
  const { rows } = await read('sku\n\n\n"a\n\nb"\r\n\r\nc')
  expect(rows.filter(([, cell]) => cell !== '')).toEqual([
    [1, 'sku'],
    [4, 'a\n\nb'],
    [6, 'c'],
  ])
})

describe('a row that cannot be read is refused with its number, after all rows before it', () => {
  const before = Array.from({ length: 1000 }, (_, n) => `SKU-${n},1\n`).join('')

  it.each([
    ['a quote that is not closed', '"open,1\nlast,2\n', 'a quote opens in this row and is not closed; close it'],
    ['a row above 1 MiB', `${'x'.repeat(MAX_ROW_BYTES + 1)},1\n`, `the row is longer than ${MAX_ROW_BYTES} bytes`],
    ['10 MB in one cell', `"${'x'.repeat(10_000_000)}",1\nlast,2\n`, `the row is longer than ${MAX_ROW_BYTES} bytes`],
    ['10 MB of empty cells', `${','.repeat(10_000_000)}\nlast,2\n`, `the row is longer than ${MAX_ROW_BYTES} bytes`],
  ])('%s', async (_what, text, message) => {
    const { rows, refused } = await read(`${before}${text}`)
    expect([rows.length, rows.at(-1)]).toEqual([1000, [1000, 'SKU-999', '1']])
    expect(refused).toEqual({ row: 1001, message: expect.stringContaining(message) })
  })
})

it('splits a row into 1,000 cells at most, and one with all the rest', async () => {
  const row = (cells: number) => ['x', ...Array(cells - 1).fill('')]
  const { rows } = await read(`x${','.repeat(999)}\nx${','.repeat(1_000_000)}\nlast`)
  expect(rows).toEqual([
    [1, ...row(1000)],
    [2, ...row(1000), ','.repeat(999_000)],
    [3, 'last'],
  ])
})

it('reads a row of 1 MiB', async () => {
  const cell = 'x'.repeat(MAX_ROW_BYTES - 2)
  expect(await read(`${cell},1\n`)).toEqual({ rows: [[1, cell, '1']] })
})

it('throws the error of the source, such as a storage that is away', async () => {
  const away = async function* () {
    yield Buffer.from('a,b\n')
    throw new Error('the storage is away')
  }
  await expect(read(away())).rejects.toThrow('the storage is away')
})

it('reads less than 1 MiB ahead of the row that it has come to, so its memory does not grow with the file', async () => {
  const row = Buffer.from(`${'x'.repeat(1000)},"a ""quoted"" cell",1\n`)
  const chunk = Buffer.concat(Array(60).fill(row))
  let sent = 0
  const many = async function* () {
    for (let n = 0; n < 200; n++) {
      sent += chunk.length
      yield chunk
    }
  }
  let ahead = 0
  let rows = 0
  for await (const _ of readCsv(many(), ',')) ahead = Math.max(ahead, sent - ++rows * row.length)
  expect(rows).toBe(12_000)
  expect(ahead).toBeLessThan(MIB)
})

it('reads few large rows ahead of one that is dealt with for long', async () => {
  const row = Buffer.from(`${'x'.repeat(MAX_ROW_BYTES / 2)},1\n`)
  let sent = 0
  const many = async function* () {
    for await (const chunk of chunksOf(Buffer.concat(Array(20).fill(row)), 64 * 1024)) {
      sent += chunk.length
      yield chunk
    }
  }
  const rows = readCsv(many(), ',')
  await rows.next()
  for (let turn = 0; turn < 1000; turn++) await setImmediate()
  expect(sent).toBeLessThan(4 * row.length)
  await rows.return(undefined)
})

it('ends its source when it is left early', async () => {
  let isEnded = false
  const source = async function* () {
    try {
      for (;;) yield Buffer.from('a,b\n'.repeat(100))
    } finally {
      isEnded = true
    }
  }
  for await (const { row } of readCsv(source(), ',')) if (row === 5) break
  await eventually('the source is ended', () => isEnded)
})
