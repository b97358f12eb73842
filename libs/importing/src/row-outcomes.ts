import type { BatchResult } from '@backoffice/contracts/batches.ts'
import { ApiError, conflict, type ErrorReason, errorBody, type MemberPath } from '@backoffice/contracts/errors.ts'
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
import type { Throttle } from './throttle.ts'

/** A row of a batch: its number in the spreadsheet, and its values by column. */
export interface Row<Values> {
  readonly row: number
  readonly values: Values
}

type Values = Readonly<Record<string, unknown>>

type Outcome =
  | { readonly status: 'created' | 'updated' | 'unchanged'; readonly id: string | null }
  | { readonly status: 'failed'; readonly refusal: ApiError; readonly error: RowError }

/** What a row is known by, such as its SKU, and where it has it. */
export interface RowKey {
  readonly path: MemberPath
  readonly key: string
  /** Why a later row with the same key is refused. */
  readonly reason?: ErrorReason<'conflict'>
}

/** The outcomes of the rows of one batch or check. A bad row fails alone (OP-55). */
export class RowOutcomes {
  readonly #outcomes = new Map<number, Outcome>()
  readonly #nameOf: (row: number) => string
  readonly throttle: Throttle

  /** `nameOf` says what messages call a row. */
  constructor(throttle: Throttle, nameOf = (row: number) => `row ${row}`) {
    this.throttle = throttle
    this.#nameOf = nameOf
  }

  /** Returns the result of `work`. If `work` throws an ApiError, the row fails with it and the result is undefined. */
  attempt<Result>(row: Row<Values>, work: () => Result): Result | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#failed(row, error)
      return undefined
    }
  }

  /** The results of `work` for the rows that do not fail with an ApiError, in their order. Gives way in between. */
  async attempts<OneRow extends Row<Values>, Result>(
    rows: readonly OneRow[],
    work: (row: OneRow) => Result,
  ): Promise<NonNullable<Result>[]> {
    const results: NonNullable<Result>[] = []
    for (const row of rows) {
      await this.throttle.giveWay()
      const result = this.attempt(row, () => work(row))
      if (result !== undefined && result !== null) results.push(result)
    }
    return results
  }

  /** Records the outcome of a valid row: whether its key is new, else whether it changes the resource with the id. */
  planned(
    { row }: Row<Values>,
    { id = null, isNew, isChanged }: { id?: string | null; isNew: boolean; isChanged: boolean },
  ): void {
    if (isNew) this.#outcomes.set(row, { status: 'created', id })
    else this.#outcomes.set(row, { status: isChanged ? 'updated' : 'unchanged', id })
  }

  /** The result of each row of a request, whose rows are numbered from 0 (OP-276). */
  results(rows: number, requestId: string): BatchResult[] {
    return Array.from({ length: rows }, (_, row) => {
      const outcome = this.#outcomes.get(row)
      if (outcome === undefined) throw new Error(`row ${row} has no outcome`)
      if (outcome.status !== 'failed')
        return { status: outcome.status, id: outcome.id, error: null, error_reason: null }
      const { code, message, errorReason } = outcome.refusal
      const { error } = errorBody(code, message, requestId)
      return { status: outcome.status, id: null, error, error_reason: errorReason }
    })
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

  /** Those of these rows that have not failed. */
  good<RowValues extends Values>(rows: readonly Row<RowValues>[]): Row<RowValues>[] {
    return rows.filter(({ row }) => (this.#outcomes.get(row)?.status ?? 'failed') !== 'failed')
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
  async read<Shape extends z.ZodRawShape>(
    template: z.ZodObject<Shape>,
    key: string & keyof Shape,
    rows: readonly Row<Values>[],
    normalised: (key: string) => string = (key) => key,
  ): Promise<Row<z.output<z.ZodObject<Shape>>>[]> {
    const valid = await this.valid(z.object(template.shape), rows)
    return this.firstOf(valid, (values) => [{ path: [key], key: normalised(String((values as Values)[key])) }])
  }

  /** The rows that fit the schema; the others fail. */
  valid<Schema extends z.ZodType>(schema: Schema, rows: readonly Row<Values>[]): Promise<Row<z.output<Schema>>[]> {
    return this.attempts(rows, ({ row, values }) => {
      refuseUnstorable(values)
      return { row, values: validate(schema, values, 'row') }
    })
  }

  /** Of rows that share a key, only the first; the others fail. */
  firstOf<RowValues extends Values>(
    rows: readonly Row<RowValues>[],
    keysOf: (values: RowValues) => readonly RowKey[],
  ): Row<RowValues>[] {
    const firstWith = new Map<string, number>()
    return rows.filter((row) => {
      const keys = keysOf(row.values)
      const repeated = keys.find(({ key }) => firstWith.has(key))
      if (repeated === undefined) for (const { key } of keys) firstWith.set(key, row.row)
      else this.#repeated(row, repeated, firstWith.get(repeated.key) ?? 0)
      return repeated === undefined
    })
  }

  #repeated(row: Row<Values>, { path, reason }: RowKey, first: number): void {
    const refusal = conflict(path, `${this.#nameOf(first)} has it already`, reason)
    this.#failed(row, refusal, { ...rowErrorOf(refusal), code: 'duplicate' })
  }

  #failed({ row, values }: Row<Values>, refusal: ApiError, error: Omit<RowError, 'value'> = rowErrorOf(refusal)): void {
    const value = cell(values[error.column])
    this.#outcomes.set(row, { status: 'failed', refusal, error: { ...error, value } })
  }
}

/** A value as the report shows it. */
function cell(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return reportedText(typeof value === 'string' ? value : JSON.stringify(value))
}
