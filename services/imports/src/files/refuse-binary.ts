import { badRequest, unprocessable } from '@backoffice/contracts/errors.ts'
import { fileTypeFromBuffer } from 'file-type'

/** Bytes at the start of a file that are enough to detect its type. */
export const HEAD_BYTES = 4100

const EXCEL =
  'is an Excel workbook; export it as CSV: in Excel choose File, Save As, "CSV UTF-8"; in Google Sheets File, Download, CSV'

/** The types of workbooks, old and new. */
const WORKBOOKS = [
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.ms-excel.sheet.macroenabled.12',
  'application/x-cfb',
]

/** Throws `bad_request` for an empty file, and `unprocessable` for one that is no text by its first bytes. */
export async function refuseBinary(head: Buffer, name: string): Promise<void> {
  if (head.length === 0) throw badRequest(['file'], 'is empty; send a CSV file with a header and rows')
  // A crafted file may make the library fail: then the reading of its header refuses it.
  const type = await fileTypeFromBuffer(head).catch(() => undefined)
  if (type === undefined) return
  const isWorkbook = WORKBOOKS.includes(type.mime) || (type.ext === 'zip' && /\.xls[xmb]?$/i.test(name))
  throw unprocessable(['file'], isWorkbook ? EXCEL : `holds ${type.mime}; send a CSV file`)
}
