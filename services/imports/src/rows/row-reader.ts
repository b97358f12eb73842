import { badRequest } from '@backoffice/contracts/errors.ts'
import { importTemplate, TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import type { z } from 'zod'
import { MAX_CELLS } from '../files/read-csv.ts'
import type { Header } from './header.ts'

/** A row's values by column, as its batch carries them. */
export type Values = Readonly<Record<string, unknown>>

/** Returns the function that reads a row's cells by the rules of the columns. It throws the refusal of a bad row. */
export function rowReader(template: Template, { columns, valuesOf }: Header): (cells: readonly string[]) => Values {
  const schema: z.ZodObject = TEMPLATE_ROWS[template].row
  const required = importTemplate(template).columns.filter((column) => column.required)
  return (cells) => {
    refuseOtherLength(cells, columns.length)
    const values = valuesOf(cells)
    refuseUnstorable(values)
    for (const { name } of required) if (!Object.hasOwn(values, name)) throw badRequest([name], 'is required')
    return validate(schema, values, 'row') as Values
  }
}

function refuseOtherLength(cells: readonly string[], length: number): void {
  if (cells.length === length) return
  // Cells behind the last column are of no harm when they are empty.
  if (cells.length > length && cells.length <= MAX_CELLS && cells.slice(length).every((cell) => cell === '')) return
  if (cells.length > MAX_CELLS) throw badRequest([], `has more than ${MAX_CELLS} cells, the header has ${length}`)
  throw badRequest([], `has ${cells.length} cells, the header has ${length}; put text with separators in quotes`)
}
