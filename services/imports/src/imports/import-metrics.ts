import { meter } from '@backoffice/runtime/metrics.ts'

const imports = meter('imports')
const validated = imports.createCounter('imports_rows_validated', {
  description: 'Rows of files that validation has read; those of a file that is validated again count again',
})
const applied = imports.createCounter('imports_rows_applied', {
  description: 'Rows whose answer is recorded, by what became of them',
})

/** Counts rows that validation has read. */
export const countValidatedRows = (rows: number): void => validated.add(rows)

/** Counts the rows of an answered batch by what became of them. */
export function countAppliedRows(outcomes: Readonly<Record<string, number>>): void {
  for (const [outcome, rows] of Object.entries(outcomes)) if (rows > 0) applied.add(rows, { outcome })
}
