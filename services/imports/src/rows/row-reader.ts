import { type ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { importTemplate, TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import type { z } from 'zod'
import { MAX_CELLS } from '../files/read-csv.ts'
import type { Header } from './header.ts'

/** A row's values by column, as its batch carries them. */
export type Values = Readonly<Record<string, unknown>>

/** Reads a row's cells by the rules of the columns. Throws the refusal of a bad row. */
export type RowReader = (cells: readonly string[]) => Values

export function rowReader(template: Template, { columns, valuesOf }: Header): RowReader {
  const schema: z.ZodObject = TEMPLATE_ROWS[template].row
  const required = importTemplate(template).columns.filter((column) => column.required)
  return (cells) => {
    const refusal = refusalOfLength(cells, columns.length)
    if (refusal !== undefined) throw refusal
    const values = valuesOf(cells)
    refuseUnstorable(values)
    for (const { name } of required) if (!Object.hasOwn(values, name)) throw badRequest([name], 'is required')
    return validate(schema, values, 'row') as Values
  }
}

/** The refusal of a row with more or fewer cells than the header, which has `length`. */
export function refusalOfLength(
  cells: readonly string[],
  length: number,
  isShifted: (cells: readonly string[]) => boolean = () => false,
): ApiError | undefined {
  if (cells.length === length) return undefined
  // Cells behind the last column are of no harm when they are empty.
  const isLonger = cells.length > length && cells.length <= MAX_CELLS
  if (isLonger && cells.slice(length).every((cell) => cell === '') && !isShifted(cells)) return undefined
  return cells.length > MAX_CELLS
    ? badRequest([], `has more than ${MAX_CELLS} cells, the header has ${length}`)
    : badRequest([], `has ${cells.length} cells, the header has ${length}; put text with separators in quotes`)
}
