import { readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { type BadRow, openReportFiles } from './report-files.ts'

/** The files with these bad rows. */
const written = (header: string[], ...bad: BadRow[]) => writtenWith(',', header, ...bad)

async function writtenWith(delimiter: string, header: string[], ...bad: BadRow[]) {
  const folder = await mkdtemp(join(tmpdir(), 'report-'))
  whenDone(() => rm(folder, { recursive: true }))
  const files = openReportFiles(folder, header, delimiter)
  await files.addBadRows(bad)
  await files.end()
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  return { errors: await read('errors.csv'), corrected: await read('corrected.csv') }
}

const badRow = (cells: string[], differences: Partial<BadRow['error']> = {}): BadRow => ({
  cells,
  error: { row: 2, column: 'name', code: 'bad_request', message: 'must not be blank', value: null, ...differences },
})

it('writes CSV for spreadsheets: UTF-8 with its byte order mark, CRLF, quotes where they are needed (OP-52)', async () => {
  const { errors, corrected } = await written(
    ['sku', 'name'],
    badRow(['A,B', 'say "hi"'], { value: 'two\nlines' }),
    badRow(['C', 'Grüße'], { row: 3, column: '', message: 'has 3 cells' }),
  )
  expect(errors).toBe(
    '\ufeffrow,column,code,message,value\r\n2,name,bad_request,must not be blank,"two\nlines"\r\n3,,bad_request,has 3 cells,\r\n',
  )
  expect(corrected).toBe(
    '\ufeffsku,name,error\r\n"A,B","say ""hi""",name: must not be blank\r\nC,Grüße,has 3 cells\r\n',
  )
})

it('writes no formula: such a cell begins with an apostrophe in both files', async () => {
  const { errors, corrected } = await written(
    ['sku', 'name'],
    badRow(['=1+1', '@x'], { column: '+c', message: '-m', value: '=cmd()' }),
  )
  expect(parse(errors, { bom: true })[1]).toEqual(['2', "'+c", 'bad_request', "'-m", "'=cmd()"])
  expect(parse(corrected, { bom: true })[1]).toEqual(["'=1+1", "'@x", "'+c: -m"])
})

it('keeps the separator of the file', async () => {
  const { errors, corrected } = await writtenWith(';', ['sku', 'name'], badRow(['A;B', 'C,D']))
  expect(errors).toBe('\ufeffrow;column;code;message;value\r\n2;name;bad_request;must not be blank;\r\n')
  expect(corrected).toBe('\ufeffsku;name;error\r\n"A;B";C,D;name: must not be blank\r\n')
})

it('gives a file that is corrected again its own column "error" only', async () => {
  const { corrected } = await written(['sku', ' Error ', 'name'], badRow(['A', 'an old mistake', 'B']))
  expect(corrected).toBe('\ufeffsku,name,error\r\nA,B,name: must not be blank\r\n')
})

it('keeps the cells of a row that has too many, and fills up one that has too few', async () => {
  const { corrected } = await written(
    ['sku', 'name'],
    badRow(['A', 'Mug', ' blue']),
    badRow(['B']),
    badRow(['C', 'Cup', '']),
  )
  expect(corrected).toBe(
    '\ufeffsku,name,error\r\nA,Mug,name: must not be blank, blue\r\nB,,name: must not be blank\r\nC,Cup,name: must not be blank\r\n',
  )
})

it('shows a mistake of the file itself among the errors, and has no row to correct for it', async () => {
  const { errors, corrected } = await written(['sku'], badRow([], { row: 1, column: '', message: 'no rows' }))
  expect([errors.split('\r\n')[1], corrected]).toEqual(['1,,bad_request,no rows,', '\ufeffsku,error\r\n'])
})

it('keeps each batch of valid rows as a line of its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'report-'))
  whenDone(() => rm(folder, { recursive: true }))
  const files = openReportFiles(folder, ['sku'], ',')
  const places = [await files.addBatch(['{"sku":"é"}', '{"sku":"B"}']), await files.addBatch(['{"sku":"C"}'])]
  await files.end()
  const rows = await readFile(join(folder, 'rows.ndjson'))
  const lines = places.map(({ first_byte, bytes }) => rows.subarray(first_byte, first_byte + bytes).toString())
  expect(lines).toEqual(['[{"sku":"é"},{"sku":"B"}]\n', '[{"sku":"C"}]\n'])
  expect(places.map((place) => place.rows)).toEqual([2, 1])
})

it('makes no file any more once it is closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'report-'))
  whenDone(() => rm(folder, { recursive: true }))
  await openReportFiles(folder, ['sku'], ',').close()
  // It began to make them when it was opened, and waited until they were there.
  expect(readdirSync(folder)).toHaveLength(3)
})
