import { type Options, stringify } from 'csv-stringify/sync'

/** The media type of CSV answers. */
export const CSV = 'text/csv; charset=utf-8'

/** The byte order mark, without which spreadsheets do not read a file as UTF-8. */
export const BYTE_ORDER_MARK = '\ufeff'

/** Lines of CSV. Cells that a spreadsheet would run as formulas are neutralised, unless `options` say otherwise. */
export const csvLines = (rows: readonly (readonly unknown[])[], options: Options = {}): string =>
  stringify(rows as unknown[][], { escape_formulas: true, record_delimiter: '\r\n', ...options })
