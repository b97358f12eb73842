import { badRequest } from '@backoffice/contracts/errors.ts'
import type { ColumnType, ImportColumn } from '@backoffice/contracts/import-templates.ts'

/** Reads a cell that is not empty into the value that the row's schema expects. Throws `bad_request`. */
type CellReader = (text: string, column: ImportColumn) => unknown

const asText: CellReader = (text) => text

/** The readers by column type (OP-53). The row's schema checks what it can itself, such as a date-time. */
const READERS: Readonly<Record<ColumnType, CellReader>> = {
  string: asText,
  uuid: asText,
  date: asText,
  datetime: asText,
  enum(text, { name, enum: allowed }) {
    if (allowed.includes(text)) return text
    throw badRequest([name], `must be one of ${allowed.join(', ')}`)
  },
  integer(text, { name }) {
    if (/^-?\d{1,16}$/.test(text)) return Number(text)
    throw badRequest([name], 'must be a whole number such as 12, without separators')
  },
  boolean(text, { name }) {
    const lower = text.toLowerCase()
    if (lower === 'true' || lower === 'false') return lower === 'true'
    throw badRequest([name], 'must be true or false')
  },
  money(text, { name }) {
    const amounts: Record<string, number> = {}
    for (const part of text.split(';')) {
      const [, currency = '', amount = ''] = /^\s*([A-Za-z]{3}):(\d{1,16})\s*$/.exec(part) ?? []
      if (currency === '') {
        throw badRequest([name], 'must be amounts in minor units by currency, such as NGN:450000;USD:300')
      }
      if (Object.hasOwn(amounts, currency)) throw badRequest([name], `gives ${currency} twice`)
      amounts[currency] = Number(amount)
    }
    return amounts
  },
  list(text, { name }) {
    const values = text.split(';').flatMap((part) => part.trim() || [])
    if (values.length > 0) return values
    throw badRequest([name], 'has no values; leave the cell empty to keep what is there')
  },
}

export const readCell = (text: string, column: ImportColumn): unknown => READERS[column.type](text, column)

/** The text of a cell that `readCell` reads into this value. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.join(';')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([currency, amount]) => `${currency}:${amount}`)
    .join(';')
}
