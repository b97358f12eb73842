import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { ImportCheckAnswer, Template } from '@backoffice/contracts/imports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { chunksOf } from '../files/testing/chunks.ts'
import { TimeSlices } from './time-slices.ts'
import { type CheckPage, validateFile } from './validate-file.ts'

const created: CheckPage = async ({ read }): Promise<ImportCheckAnswer> => ({
  created: read.map(({ row }) => row),
  updated: [],
  unchanged: [],
  failed: [],
})

async function validate(
  content: string,
  {
    check = created,
    onRows = (_rows: number) => {},
    template = 'stock' as Template,
    signal = new AbortController().signal,
  } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'validate-'))
  whenDone(() => rm(folder, { recursive: true }))
  const chunks = chunksOf(Buffer.from(content), 64 * 1024)
  const findings = await validateFile(
    {
      template,
      content: chunks,
      encoding: 'utf-8',
      currency: null,
      folder,
      remarks: [],
      slices: new TimeSlices(),
      signal,
    },
    check,
    onRows,
  )
  return { folder, findings }
}

const rows = (length: number) => Array.from({ length }, (_, n) => `S${n},1\n`).join('')

it('keeps all rows before one that cannot be read, and refuses that one with its number', async () => {
  const { findings } = await validate(`sku,stock\n${rows(1234)}"open,1\nlast,1\n`)
  expect(findings.counts).toEqual({ total_rows: 1235, valid_rows: 1234, invalid_rows: 1 })
  expect(findings.errors).toMatchObject([
    { row: 1236, column: '', value: null },
    { row: 1, column: '', code: 'bad_request', message: 'the rows after 1236 were not read' },
  ])
})

it('keeps the order of the file, whichever page its owner answers first', async () => {
  const slowest = { first: true }
  const check: CheckPage = async (page) => {
    if (slowest.first) {
      slowest.first = false
      await pause(50)
    }
    return created(page)
  }
  const { folder, findings } = await validate(`sku,stock\n${rows(1001)}`, { check })
  const stored = (await readFile(join(folder, 'rows.ndjson'), 'utf8')).trimEnd().split('\n')
  const numbers = stored.flatMap((line) => (JSON.parse(line) as { row: number }[]).map(({ row }) => row))
  expect(numbers).toEqual(Array.from({ length: 1001 }, (_, n) => n + 2))
  expect(findings.batches.map((batch) => batch.rows)).toEqual([500, 500, 1])
})

it('ends with the error of its owner, also when several pages fail, and with that of onRows', async () => {
  const fail: CheckPage = async ({ read }) => {
    await pause(read[0]?.row === 2 ? 20 : 5)
    throw new Error('catalog does not answer')
  }
  await expect(validate(`sku,stock\n${rows(5000)}`, { check: fail })).rejects.toThrow('catalog does not answer')
  const stop = () => {
    throw new Error('the claim is lost')
  }
  await expect(validate(`sku,stock\n${rows(5000)}`, { onRows: stop })).rejects.toThrow('the claim is lost')
})

it('asks the owner nothing about rows that are bad, and tells the number of rows after each page', async () => {
  const told: number[] = []
  let asked = 0
  const check: CheckPage = (page) => {
    asked += page.read.length
    return created(page)
  }
  const { folder } = await validate(`sku,stock\n${'A,x\n'.repeat(2500)}B,1\n`, {
    check,
    onRows: (read) => told.push(read),
  })
  expect([asked, told]).toEqual([1, [2000, 2501]])
  expect((await readdir(folder)).sort()).toEqual(['corrected.csv', 'errors.csv', 'keys', 'rows.ndjson'])
  const errors = await readFile(join(folder, 'errors.csv'), 'utf8')
  expect(errors.split('\r\n')).toHaveLength(2502)
})

/** A text, and how often a file has it in a row. */
type Part = readonly [part: string, times: number]

/** Validates files at the same time. It is ERR_WORKER_OUT_OF_MEMORY when they do not fit. */
async function fitIntoHeap(files: readonly (readonly Part[])[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'validate-'))
  whenDone(() => rm(folder, { recursive: true }))
  const thread = new Worker(new URL('./testing/validation-thread.ts', import.meta.url), {
    workerData: { folder, files },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 60, maxYoungGenerationSizeMb: 24 },
  })
  expect(await once(thread, 'exit')).toEqual([0])
}

describe('three files at once fit into half of the heap that the process has, 60 MB', () => {
  const [commas, cells] = [','.repeat(1000), ',ab'.repeat(1000)]
  it.each<[string, Part[]]>([
    [
      'a header of a million commas',
      [
        [commas, 1000],
        ['x\nA,1\n', 1],
      ],
    ],
    [
      'a row of a million commas',
      [
        ['sku,stock\nA', 1],
        [commas, 1000],
      ],
    ],
    [
      'rows of 300,000 cells each',
      [
        ['sku,stock\n', 1],
        ...Array(4)
          .fill([
            [cells, 300],
            ['\n', 1],
          ])
          .flat(),
      ],
    ],
    [
      'rows of 900 cells each',
      [
        ['sku,stock\n', 1],
        [`A${',ab'.repeat(899)}\n`, 1000],
      ],
    ],
  ])('%s', (_what, file) => fitIntoHeap([file, file, file]))
})

it('a product of Shopify with 90 images of 1 MB each fits into that heap too', () =>
  fitIntoHeap([
    [
      ['Handle,Title,Variant SKU,Variant Price,Image Src\ncap,Cap,C,1,\n', 1],
      ...Array.from({ length: 90 }, (_, n): Part[] => [
        [`cap,,,,https://x.example/${n}`, 1],
        ['a'.repeat(1000), 1000],
        ['\n', 1],
      ]).flat(),
    ],
  ]))

it('stops in a file of empty rows too, which has no page', async () => {
  const signal = AbortSignal.timeout(50)
  await expect(validate(`sku,stock\n${'\n'.repeat(2_000_000)}`, { signal })).rejects.toMatchObject({
    name: 'TimeoutError',
  })
})

it.each([
  ['a header above 1 MiB', `${'x'.repeat(2 * 1024 * 1024)},stock\nA,1\n`, 'the row is longer than 1048576 bytes'],
  ['a header of 10 MB of separators', `${','.repeat(10_000_000)}\nA,1\n`, 'the row is longer than 1048576 bytes'],
  ['a header of 1,001 columns', `sku,stock${','.repeat(999)}\nA,1\n`, 'the header has more than 1000 columns'],
])('refuses %s', async (_what, content, message) => {
  const { findings } = await validate(content)
  expect(findings.errors).toEqual([
    { row: 1, column: '', code: 'bad_request', message: expect.stringContaining(message), value: null },
  ])
})

it('refuses a row of 1,001 cells, also empty ones, and reads the rows behind it', async () => {
  const { findings } = await validate(`sku,stock\nA,1${','.repeat(998)}\nB,1${','.repeat(999)}\nC,1\n`)
  expect(findings.counts).toEqual({ total_rows: 3, valid_rows: 2, invalid_rows: 1 })
  const message = 'has more than 1000 cells, the header has 2'
  expect(findings.errors).toEqual([{ row: 3, column: '', code: 'bad_request', message, value: null }])
})

it('reads a header behind empty lines, in any case and with the separator that the file names', async () => {
  const { findings } = await validate(`sep=;\n\n;;\nSKU;Stock\nA;x\n`)
  expect(findings.counts).toEqual({ total_rows: 1, valid_rows: 0, invalid_rows: 1 })
  expect(findings.errors).toMatchObject([{ row: 4, column: 'stock', value: 'x' }])
})

it.each([
  ['closes where another one opens', 'A,"Mug,5\nB,"Cup",3'],
  ['goes on into the next row', 'A,"Mug,5\nB,Cup 5",3'],
])('refuses a forgotten quote that %s, also when it comes back in the corrected file', async (_what, text) => {
  const template = 'products'
  const first = await validate(`sku,name,stock\n${text}\nC,Jug,1\n`, { template })
  expect(first.findings).toMatchObject({ counts: { valid_rows: 1, invalid_rows: 1 }, errors: [{ row: 2 }] })
  const again = await validate(await readFile(join(first.folder, 'corrected.csv'), 'utf8'), { template })
  expect(again.findings.counts).toEqual({ total_rows: 1, valid_rows: 0, invalid_rows: 1 })
})

it('reads columns in the order of the header, and a corrected file without its errors', async () => {
  const { findings, folder } = await validate(`stock;error;sku\n5;old mistake;A\n6;;'=B\n`)
  expect(findings.counts).toEqual({ total_rows: 2, valid_rows: 2, invalid_rows: 0 })
  expect(JSON.parse(await readFile(join(folder, 'rows.ndjson'), 'utf8'))).toEqual([
    { row: 2, values: { stock: 5, sku: 'A' } },
    { row: 3, values: { stock: 6, sku: '=B' } },
  ])
})

it('lists the first 10,000 bad rows, counts the others, and says so in row 1 (OP-189)', async () => {
  const { folder, findings } = await validate(`sku,stock\n${'x\n'.repeat(12_345)}A,1\nlast\n`)
  const remark = {
    ...{ row: 1, column: '', code: 'unprocessable', value: null },
    message: expect.stringContaining('the first 10000 bad rows are listed, and 2346 more are counted only'),
  }
  expect(findings.counts).toEqual({ total_rows: 12_347, valid_rows: 1, invalid_rows: 12_346 })
  expect([findings.errors.length, findings.errors.at(-1)]).toEqual([1001, remark])
  const linesOf = async (name: string) => (await readFile(join(folder, name), 'utf8')).trimEnd().split('\r\n')
  const errors = await linesOf('errors.csv')
  expect([errors.length, errors.at(-2)?.split(',')[0], errors.at(-1)?.split(',')[0]]).toEqual([10_002, '10001', '1'])
  expect(await linesOf('corrected.csv')).toHaveLength(10_001)
})

it('lists bad rows up to 32 MiB, whatever their length', async () => {
  const row = `A,${'x'.repeat(1_000_000)}\n`
  const { folder, findings } = await validate(`sku,stock\n${row.repeat(34)}A,x\n`)
  expect(findings.counts).toEqual({ total_rows: 35, valid_rows: 0, invalid_rows: 35 })
  const sizes = await Promise.all(['errors.csv', 'corrected.csv'].map((name) => stat(join(folder, name))))
  expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(32 * 1024 * 1024 + 1000)
  expect(findings.errors.at(-1)).toMatchObject({ row: 1, message: expect.stringContaining('2 more are counted only') })
})
