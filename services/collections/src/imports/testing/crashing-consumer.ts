import { crashWithFirstBatch } from '@backoffice/importing/testing/crashing-imports.ts'
import { applyImportBatches } from '../apply-import-batches.ts'

await crashWithFirstBatch(applyImportBatches)
