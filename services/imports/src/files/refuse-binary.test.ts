import { gzipSync } from 'node:zlib'
import { importTemplate } from '@backoffice/contracts/import-templates.ts'
import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { describe, expect, it } from 'vitest'
import { refuseBinary } from './refuse-binary.ts'
import { OLD_WORKBOOK, PNG, workbook, zip } from './testing/binary-files.ts'

const EXPORT = 'file: is an Excel workbook; export it as CSV'

describe('a file that is no text is refused, and the message says what to send', () => {
  it.each([
    ['an Excel workbook', workbook(), 'products.xlsx', 422, EXPORT],
    ['an Excel workbook of another name', workbook(), 'products.csv', 422, EXPORT],
    ['an Excel workbook whose type is beyond its first bytes', zip({ 'xl/a.bin': 'x' }), 'a.XLSX', 422, EXPORT],
    ['an old Excel workbook', OLD_WORKBOOK, 'products.xls', 422, EXPORT],
    ['another zip', zip({ 'notes.txt': 'x' }), 'notes.zip', 422, 'file: holds application/zip; send a CSV file'],
    ['a PNG', PNG, 'rows.csv', 422, 'file: holds image/png; send a CSV file'],
    ['a gzip', gzipSync('sku\n'), 'rows.csv.gz', 422, 'file: holds application/gzip; send a CSV file'],
    ['a PDF', Buffer.from('%PDF-1.7\n1 0 obj\n'), 'rows.pdf', 422, 'file: holds application/pdf; send a CSV file'],
    ['an empty file', Buffer.alloc(0), 'rows.csv', 400, 'file: is empty; send a CSV file with a header and rows'],
  ])('%s', async (_what, content, name, status, message) => {
    const refused = refuseBinary(content, name)
    await expect(refused).rejects.toMatchObject({ status, message: expect.stringContaining(message) })
  })
})

it('takes every header for text, in every encoding and with any column first', async () => {
  for (const { columns } of TEMPLATES.map(importTemplate)) {
    for (const { name } of [...columns, { name: 'error' }]) {
      for (const line of [`${name},a,b\n1,2,3\n`, `"${name}";a\r\n`, `${name}\ta\r`, name]) {
        const utf16 = Buffer.from(`\ufeff${line}`, 'utf16le')
        for (const content of [Buffer.from(line), Buffer.from(`\ufeff${line}`), utf16, Buffer.from(utf16).swap16()]) {
          await expect(refuseBinary(content, 'rows.csv')).resolves.toBeUndefined()
        }
      }
    }
  }
})
