import { readLimits, storedBytesLimit } from '@backoffice/service/read-limits.ts'
import { readStoredBytes } from '@backoffice/service/read-stored-bytes.ts'
import type { Uploading } from '@backoffice/storage/stored-uploads.ts'
import { cancelImport } from './imports/cancel-import.ts'
import { followImport } from './imports/follow-import.ts'
import { getImport } from './imports/get-import.ts'
import { IMPORTS_TO_APPLY, IMPORTS_TO_VALIDATE } from './imports/import-limits.ts'
import { listImports } from './imports/list-imports.ts'
import type { OwnerClient } from './imports/owner-client.ts'
import { startImport } from './imports/start-import.ts'
import { uploadImport } from './imports/upload-import.ts'
import { getCorrectedFile } from './reports/get-corrected-file.ts'
import { getDiff } from './reports/get-diff.ts'
import { getErrorsFile } from './reports/get-errors-file.ts'
import { getImages } from './reports/get-images.ts'
import { getMapping } from './reports/get-mapping.ts'
import { getReport } from './reports/get-report.ts'
import { getTemplateFile } from './templates/get-template-file.ts'
import { listTemplates } from './templates/list-templates.ts'
import { getUndo } from './undo/get-undo.ts'
import { undoImport } from './undo/undo-import.ts'

/** Wakes workers after the commit of an operation. */
type Wake = Readonly<Record<'validation' | 'batches' | 'undos', () => void>>

/** The service's API. */
export const operations = (uploading: Uploading, wake: Wake, owners: Pick<OwnerClient, 'images'>) => [
  listTemplates,
  getTemplateFile,
  uploadImport(uploading, wake.validation),
  listImports,
  getImport,
  startImport(wake.batches),
  cancelImport,
  followImport(uploading.db),
  getReport,
  getErrorsFile(uploading),
  getCorrectedFile(uploading),
  getDiff,
  getMapping(uploading),
  getImages(uploading.db, owners),
  undoImport(wake.undos),
  getUndo,
  readStoredBytes,
  readLimits(storedBytesLimit('import_bytes', uploading.storedBytes), IMPORTS_TO_VALIDATE, IMPORTS_TO_APPLY),
]
