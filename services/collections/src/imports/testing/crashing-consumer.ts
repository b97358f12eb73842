import { crashWithFirstBatch } from '@backoffice/messaging/testing/crashing-imports.ts'
import { applyImportBatches } from '../apply-import-batches.ts'

await crashWithFirstBatch(applyImportBatches)
