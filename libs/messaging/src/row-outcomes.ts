import { ApiError, type ErrorCode } from '@backoffice/contracts/errors.ts'
import type { ImportResult, RowError } from '@backoffice/contracts/imports.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { z } from 'zod'

/** A row of a batch: where the spreadsheet has it, and its values by column. */
export interface Row<Values> {
  readonly row: number
  readonly values: Values
}

type Values = Readonly<Record<string, unknown>>
type Outcome = ImportResult['rows'][number]

/** What becomes of the rows of one batch. A bad row fails alone (OP-55). */
export class RowOutcomes {
  readonly #outcomes = new Map<number, Outcome>()

  /** What `work` returns; undefined, and the row failed, when it throws an ApiError. */
  attempt<Result>(row: Row<Values>, work: () => Result): Result | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#failed(row, rowError(error))
      return undefined
    }
  }

  /** A row that was applied. What changed nothing counts as updated. */
  applied({ row }: Row<Values>, status: 'created' | 'updated'): void {
    this.#outcomes.set(row, { row, status, errors: [] })
  }

  /** The outcome of each of these rows, in their order. */
  of(rows: readonly Row<Values>[]): Outcome[] {
    return rows.flatMap(({ row }) => this.#outcomes.get(row) ?? [])
  }

  /**
   * The rows that fit the template, whose key, as the template brings it into its form, is theirs alone; the others fail. Columns
   * nobody knows are passed over, since the service that wrote them may be newer.
   */
  read<Shape extends z.ZodRawShape>(
    template: z.ZodObject<Shape>,
    key: string & keyof Shape,
    rows: readonly Row<Values>[],
  ): Row<z.output<z.ZodObject<Shape>>>[] {
    const reader = z.object(template.shape)
    const firstWith = new Map<unknown, number>()
    return rows.flatMap((row) => {
      const values = this.attempt(row, () => {
        refuseUnstorable(row.values)
        return validate(reader, row.values, 'row')
      })
      if (values === undefined) return []
      const keyed = (values as Values)[key]
      const first = firstWith.get(keyed)
      if (first !== undefined) {
        this.#failed(row, { column: key, code: 'duplicate', message: `row ${first} has it already` })
        return []
      }
      firstWith.set(keyed, row.row)
      return [{ row: row.row, values }]
    })
  }

  #failed({ row, values }: Row<Values>, error: Omit<RowError, 'value'>): void {
    this.#outcomes.set(row, { row, status: 'failed', errors: [{ ...error, value: cell(values[error.column]) }] })
  }
}

const CELL_LENGTH = 255

/** A value as the report shows it: cut, since 500 descriptions would not fit a record, and fit for PostgreSQL. */
function cell(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.slice(0, CELL_LENGTH).replaceAll('\0', '').toWellFormed()
}

/** The message of an ApiError begins with the path of the member, of which the column is the first part. */
function rowError({ code, message }: ApiError): Omit<RowError, 'value'> {
  const [, column = '', text = message] = /^(\w+)[^:]*: (.*)$/s.exec(message) ?? []
  return { column, code: rowCode(code), message: text }
}

const rowCode = (code: ErrorCode): RowError['code'] =>
  code === 'bad_request' || code === 'conflict' ? code : 'unprocessable'
