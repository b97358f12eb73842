import { Readable } from 'node:stream'
import { okStream } from '@backoffice/http/reply.ts'
import { savedAs } from '@backoffice/http/streamed.ts'
import { type Options, stringify } from 'csv-stringify/sync'
import { neutralised } from './formulas.ts'

/** The media type of CSV answers. */
export const CSV = 'text/csv; charset=utf-8'

/** The byte order mark, without which spreadsheets do not read a file as UTF-8. */
export const BYTE_ORDER_MARK = '\ufeff'

export type Cells = readonly (string | number | null | undefined)[]

// Given a delimiter of records, csv-stringify quotes no other line breaks by itself.
const OPTIONS = { record_delimiter: '\r\n', quote_record_delimiter: true } satisfies Options

/** Lines of CSV with these cells. */
export const csvLines = (rows: readonly Cells[]): string => stringify(rows as unknown[][], OPTIONS)

/** Lines of CSV for a spreadsheet: cells that it would run as formulas are neutralised. */
export const spreadsheetLines = (rows: readonly Cells[], delimiter = ','): string =>
  stringify(rows as unknown[][], { ...OPTIONS, delimiter, cast: { string: neutralised } })

/** The answer with a file of CSV, which browsers save under this name. */
export const csvFile = (content: Iterable<string> | AsyncIterable<string | Buffer>, name: string) =>
  okStream(CSV, Readable.from(content, { objectMode: false }), savedAs(name))
