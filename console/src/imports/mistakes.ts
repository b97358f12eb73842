import type { components } from '../api/client.ts'

type RowError = components['schemas']['ImportRowError']

/** The row that stands for the file as a whole. */
export const FILE_ROW = 1

/** A mistake that rows share. */
export interface Mistake {
  readonly key: string
  readonly column: string
  readonly message: string
  /** A value of one of the rows. */
  readonly value: string | null
  readonly rows: readonly number[]
}

/** Ascending rows as ranges: the first and the last of those that come one after the other. */
export function rangesOf(rows: readonly number[]): readonly (readonly [number, number])[] {
  const firsts = rows.filter((row, index) => rows[index - 1] !== row - 1)
  const lasts = rows.filter((row, index) => rows[index + 1] !== row + 1)
  return firsts.map((first, index) => [first, lasts[index] ?? first])
}

/** Errors by column and message, those of most rows first. */
export function grouped(errors: readonly RowError[]): readonly Mistake[] {
  const groups = Map.groupBy(errors, ({ column, message }) => JSON.stringify([column, message]))
  const mistakes = [...groups].map(([key, [first, ...others]]) => ({
    key,
    column: first?.column ?? '',
    message: first?.message ?? '',
    value: first?.value ?? null,
    rows: [first?.row ?? FILE_ROW, ...others.map(({ row }) => row)],
  }))
  return mistakes.toSorted((a, b) => b.rows.length - a.rows.length)
}
