import { z } from 'zod'
import { Id, Timestamp } from './fields.ts'
import { ImportUndoProgress, RowError, TemplateKey } from './imports.ts'
import { namedObject } from './named.ts'

/** The states of an import (OP-51). */
export const IMPORT_STATUSES = [
  'UPLOADED',
  'VALIDATING',
  'VALIDATED',
  'INVALID',
  'IMPORTING',
  'COMPLETED',
  'COMPLETED_WITH_ERRORS',
  'FAILED',
  'CANCELLED',
] as const
export type ImportStatus = (typeof IMPORT_STATUSES)[number]

/** An import as the API shows it (OP-50). `processed_rows` counts the rows that are applied or failed. */
export const Import = namedObject(
  'Import',
  {
    id: Id,
    template: TemplateKey,
    file: z.string(),
    status: z.enum(IMPORT_STATUSES),
    total_rows: z.int(),
    processed_rows: z.int(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  {
    id: '0198c7a0-0000-7000-8000-000000000040',
    template: 'stock',
    file: 'stock.csv',
    status: 'UPLOADED',
    total_rows: 0,
    processed_rows: 0,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
  },
)
export type Import = z.output<typeof Import>

/** Row errors shown with a report; all of them are in its `errors.csv` (OP-52). */
export const ERRORS_SHOWN = 1000

/** The numbers of a report (OP-52). */
export const ImportCounts = namedObject('ImportCounts', {
  total_rows: z.int(),
  valid_rows: z.int(),
  invalid_rows: z.int(),
  created: z.int(),
  updated: z.int(),
  failed: z.int(),
})
export type ImportCounts = z.output<typeof ImportCounts>

/** An error of a row; the header is row 1 (OP-52). */
export const ReportedError = namedObject('ImportRowError', { row: z.int().min(1), ...RowError.shape })
export type ReportedError = z.output<typeof ReportedError>

/** The validation report (spec: Import validation report; OP-52). */
export const ImportReport = namedObject(
  'ImportReport',
  {
    import_id: Id,
    status: z.enum(IMPORT_STATUSES),
    summary: namedObject('ImportSummary', {
      ...ImportCounts.shape,
      errors: z.array(ReportedError).max(ERRORS_SHOWN),
      errors_truncated: z.boolean(),
    }),
  },
  {
    import_id: '0198c7a0-0000-7000-8000-000000000040',
    status: 'INVALID',
    summary: {
      total_rows: 2,
      valid_rows: 1,
      invalid_rows: 1,
      created: 0,
      updated: 0,
      failed: 0,
      errors: [{ row: 3, column: 'stock', code: 'bad_request', message: 'must be an integer', value: 'many' }],
      errors_truncated: false,
    },
  },
)
export type ImportReport = z.output<typeof ImportReport>

/** The data of import.completed (OP-72). */
export const ImportData = namedObject(
  'ImportData',
  { id: Id, template: TemplateKey, status: z.enum(IMPORT_STATUSES), summary: ImportCounts },
  {
    id: '0198c7a0-0000-7000-8000-000000000040',
    template: 'stock',
    status: 'COMPLETED',
    summary: { total_rows: 2, valid_rows: 2, invalid_rows: 0, created: 0, updated: 2, failed: 0 },
  },
)
export type ImportData = z.output<typeof ImportData>

/**
 * The undo of an import (OP-151): numbers of deleted, restored and kept resources. `rows` has the first kept ones. A
 * FAILED undo can be sent again.
 */
export const ImportUndo = namedObject(
  'ImportUndo',
  {
    import_id: Id,
    status: z.enum(['RUNNING', 'DONE', 'FAILED']),
    ...ImportUndoProgress.omit({ is_done: true }).shape,
  },
  {
    import_id: '0198c7a0-0000-7000-8000-000000000040',
    status: 'RUNNING',
    deleted: 4800,
    restored: 200,
    kept: 1,
    rows: [{ key: 'MUG', reason: 'was changed since the import' }],
  },
)
export type ImportUndo = z.output<typeof ImportUndo>
