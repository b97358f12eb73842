import { z } from 'zod'
import { Id } from './fields.ts'
import { IMPORT_STATUSES, ImportCounts } from './import.ts'
import { TEMPLATES } from './imports.ts'

/** The data of import.completed (OP-72). */
export const ImportData = z.strictObject({
  id: Id,
  template: z.enum(TEMPLATES),
  status: z.enum(IMPORT_STATUSES),
  summary: z.strictObject({ ...ImportCounts.shape }),
})
export type ImportData = z.output<typeof ImportData>
