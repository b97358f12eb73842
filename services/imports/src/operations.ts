import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { cancelImport } from './imports/cancel-import.ts'
import { getImport } from './imports/get-import.ts'
import { listImports } from './imports/list-imports.ts'
import { startImport } from './imports/start-import.ts'
import { uploadImport } from './imports/upload-import.ts'
import { getDiff } from './reports/get-diff.ts'
import { getReport } from './reports/get-report.ts'
import { listTemplates } from './templates/list-templates.ts'

/** What the workers do after the commit of an operation. */
interface Wake {
  validation(): void
  batches(): void
}

/** The service's API. */
export const operations = (storage: FileStorage, wake: Wake) => [
  listTemplates,
  uploadImport(storage, wake.validation),
  listImports,
  getImport,
  startImport(wake.batches),
  cancelImport,
  getReport,
  getDiff,
]
