import { z } from 'zod'
import { Id } from './fields.ts'
import { IMPORT_STATUSES, ImportCounts } from './import.ts'
import { TemplateKey } from './imports.ts'
import { named } from './named.ts'

/** The data of import.completed (OP-72). */
export const ImportData = named(
  'ImportData',
  z.strictObject({
    id: Id,
    template: TemplateKey,
    status: z.enum(IMPORT_STATUSES),
    summary: named('ImportCounts', z.strictObject({ ...ImportCounts.shape })),
  }),
)
export type ImportData = z.output<typeof ImportData>
