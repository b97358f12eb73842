import { crashWithFirstBatch } from '@backoffice/importing/testing/crashing-imports.ts'
import { applyImportBatches } from '../importers.ts'

await crashWithFirstBatch(applyImportBatches)
