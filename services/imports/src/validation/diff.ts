import type { ImportCheckAnswer } from '@backoffice/contracts/imports.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { z } from 'zod'

/** Rows shown of each kind. */
const ROWS_SHOWN = 100

const Rows = namedObject('ImportDiffRows', {
  count: z.int(),
  rows: z.array(namedObject('ImportDiffRow', { row: z.int(), key: z.string() })).max(ROWS_SHOWN),
})

/** What applying the valid rows would do (OP-147). */
export const Diff = namedObject(
  'ImportDiff',
  { create: Rows, update: Rows, unchanged: Rows },
  {
    create: { count: 0, rows: [] },
    update: { count: 1, rows: [{ row: 2, key: 'LINEN-M' }] },
    unchanged: { count: 1, rows: [{ row: 3, key: 'LINEN-L' }] },
  },
)
export type Diff = z.output<typeof Diff>

const KINDS = { create: 'created', update: 'updated', unchanged: 'unchanged' } as const

export const emptyDiff = (): Diff => ({
  create: { count: 0, rows: [] },
  update: { count: 0, rows: [] },
  unchanged: { count: 0, rows: [] },
})

/** Counts in `diff` what the owner answers about these rows, and keeps the first of each kind. */
export function addToDiff(
  diff: Diff,
  rows: readonly { readonly row: number; readonly key: string }[],
  answer: ImportCheckAnswer,
): void {
  let keys: Map<number, string> | undefined
  for (const [kind, outcome] of Object.entries(KINDS) as [keyof Diff, (typeof KINDS)[keyof Diff]][]) {
    const { rows: shown } = diff[kind]
    diff[kind].count += answer[outcome].length
    if (shown.length === ROWS_SHOWN) continue
    keys ??= new Map(rows.map(({ row, key }) => [row, key]))
    for (const row of answer[outcome].slice(0, ROWS_SHOWN - shown.length)) shown.push({ row, key: keys.get(row) ?? '' })
  }
}
