import { ApiError } from '@backoffice/contracts/errors.ts'
import {
  type ImportCheckAnswer,
  type ImportResult,
  type RowError,
  reportedText,
  rowErrorOf,
} from '@backoffice/contracts/imports.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { z } from 'zod'

/** A row of a batch: its number in the spreadsheet, and its values by column. */
export interface Row<Values> {
  readonly row: number
  readonly values: Values
}

type Values = Readonly<Record<string, unknown>>

type Outcome =
  | { readonly status: 'created' | 'updated' | 'unchanged' }
  | { readonly status: 'failed'; readonly error: RowError }

/** The outcomes of the rows of one batch or check. A bad row fails alone (OP-55). */
export class RowOutcomes {
  readonly #outcomes = new Map<number, Outcome>()

  /** Returns the result of `work`. If `work` throws an ApiError, the row fails with it and the result is undefined. */
  attempt<Result>(row: Row<Values>, work: () => Result): Result | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#failed(row, rowErrorOf(error))
      return undefined
    }
  }

  /** Records the outcome of a valid row: whether its key is new, else whether it changes the resource. */
  planned({ row }: Row<Values>, { isNew, isChanged }: { isNew: boolean; isChanged: boolean }): void {
    if (isNew) this.#outcomes.set(row, { status: 'created' })
    else this.#outcomes.set(row, { status: isChanged ? 'updated' : 'unchanged' })
  }

  /** What became of each of these rows, in their order. A row that changed nothing counts as updated (OP-55). */
  applied(rows: readonly Row<Values>[]): ImportResult['rows'] {
    return rows.flatMap(({ row }) => {
      const outcome = this.#outcomes.get(row)
      if (outcome === undefined) return []
      if (outcome.status === 'failed') return { row, status: outcome.status, errors: [outcome.error] }
      return { row, status: outcome.status === 'created' ? 'created' : 'updated', errors: [] }
    })
  }

  /** What applying these rows would do: their numbers by outcome, in their order. */
  checked(rows: readonly Row<Values>[]): ImportCheckAnswer {
    const answer: ImportCheckAnswer = { created: [], updated: [], unchanged: [], failed: [] }
    for (const { row } of rows) {
      const outcome = this.#outcomes.get(row)
      if (outcome === undefined) continue
      if (outcome.status === 'failed') answer.failed.push({ row, error: outcome.error })
      else answer[outcome.status].push(row)
    }
    return answer
  }

  /**
   * Validates rows against the template and returns those that fit; the others fail. Of rows with the same key, after
   * the template and `normalised` have normalised it, only the first is returned. Unknown columns are ignored, since a
   * newer service may have written them.
   */
  read<Shape extends z.ZodRawShape>(
    template: z.ZodObject<Shape>,
    key: string & keyof Shape,
    rows: readonly Row<Values>[],
    normalised: (key: string) => string = (key) => key,
  ): Row<z.output<z.ZodObject<Shape>>>[] {
    const reader = z.object(template.shape)
    const firstWith = new Map<string, number>()
    return rows.flatMap((row) => {
      const values = this.attempt(row, () => {
        refuseUnstorable(row.values)
        return validate(reader, row.values, 'row')
      })
      if (values === undefined) return []
      const keyed = normalised(String((values as Values)[key]))
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
    this.#outcomes.set(row, { status: 'failed', error: { ...error, value: cell(values[error.column]) } })
  }
}

/** A value as the report shows it. */
function cell(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return reportedText(typeof value === 'string' ? value : JSON.stringify(value))
}
